package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const (
	envChromium    = "ONEROW_CHROMIUM"    // the program, if it is not found by its usual names
	envScreenshots = "ONEROW_SCREENSHOTS" // a folder that keeps them
)

// chromium finds the browser. Without one the test fails.
func chromium(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell", "headless_shell"}
	if given := os.Getenv(envChromium); given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no Chromium among %q: run scripts/get-chromium (Debian: apt-get install chromium), or set %s to one", names, envChromium)
	return ""
}

// browser is a tab of a headless Chromium, on one page.
type browser struct {
	t      *testing.T
	ctx    context.Context
	folder string // for pictures
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, folder: os.Getenv(envScreenshots)}
	if b.folder == "" {
		b.folder = t.TempDir()
	}
	if err := os.MkdirAll(b.folder, 0o750); err != nil {
		t.Fatal(err)
	}
	// Its sandbox needs what containers do not give. It sees this page only.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value is what a script says of the page. While a button's answer loads, the page that was asked goes away: the
// next one is asked.
func value[T any](b *browser, format string, args ...any) (v T) {
	b.t.Helper()
	dbtest.Eventually(b.t, 60*time.Second, func() (bool, string) {
		var err error
		v, err = chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(format, args...)))
		if err != nil && !navigated(err) {
			b.t.Fatal(err)
		}
		return err == nil, fmt.Sprint(err)
	})
	return v
}

// navigated says whether the browser answers that the page has changed under the question.
func navigated(err error) bool {
	for _, text := range []string{"Inspected target navigated or closed", "Execution context was destroyed", "Cannot find context", "Cannot find default execution context"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// text is what the page shows.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return value[string](b, `document.querySelector(%q)?.innerText ?? ''`, selector)
}

// waits until the page says something, without a reload.
func (b *browser) waits(selector, says string) {
	b.t.Helper()
	dbtest.Eventually(b.t, 60*time.Second, func() (bool, string) {
		text := b.text(selector)
		return strings.Contains(text, says), fmt.Sprintf("%s says %q, want %q", selector, text, says)
	})
}

// gone waits until the page does not have something any more.
func (b *browser) gone(selector string) {
	b.t.Helper()
	dbtest.Eventually(b.t, 60*time.Second, func() (bool, string) {
		n := value[int](b, `document.querySelectorAll(%q).length`, selector)
		return n == 0, selector + " is still there"
	})
}

// rows is the figure that a job shows; -1 if it is not there.
func (b *browser) rows(job int64) int64 {
	b.t.Helper()
	return value[int64](b, `Number(document.querySelector('#job-%d .rows')?.dataset.rows ?? -1)`, job)
}

// picture keeps what an operator sees, in both widths and both schemes of colours, and
// wants no line to be wider than the screen.
func (b *browser) picture(name string) {
	b.t.Helper()
	for _, screen := range []struct {
		name  string
		width int64
		dark  bool
	}{{"1280", 1280, false}, {"390", 390, false}, {"1280-dark", 1280, true}} {
		scheme := "light"
		if screen.dark {
			scheme = "dark"
		}
		b.do(chromedp.EmulateViewport(screen.width, 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}))
		if value[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`) {
			b.t.Errorf("%s is wider than a screen of %d", name, screen.width)
		}
		png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.folder, name+"-"+screen.name+".png"), png, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	// A click goes to where a thing is drawn: after two frames it is where this width has it.
	const drawn = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](drawn, chromedp.EvalAwaitPromise)); err != nil && !navigated(err) {
		b.t.Fatal(err)
	}
}

// TestPageInChromium uses the page as an operator does, while a real worker deletes.
func TestPageInChromium(t *testing.T) {
	s := ready(t).serve("", true)
	b := newBrowser(t)
	b.do(chromedp.Navigate(s.base))
	b.waits("#open", "No job yet")
	b.picture("empty")

	// A job in trouble, a parked row of another one with a name that wants to be a program, and one in grace.
	s.fill(2, 3, 4)
	dead := s.enqueue(2, 0)
	s.end(dead.ID, queue.Dead, "cascade: the plan or the schema has changed under the job: run cascade-worker verify, adapt the plan, retry")
	hostile := `<img src=x onerror="document.title='owned'">`
	s.fill(3, 1, 1)
	left := s.enqueue(3, 0)
	row := s.park(left.ID, "comment", hostile, "Error 1451 (23000): Cannot delete or update a parent row: a foreign key constraint fails (`shop`.`report`, CONSTRAINT `fk`)")
	s.end(left.ID, queue.Leftovers, "")
	s.fill(4, 1, 1)
	grace := s.enqueue(4, time.Hour)
	// All of them appear in the page that is open, without a reload.
	b.waits("#trouble", "schema has changed")
	b.waits("#parked", hostile)
	b.waits("#grace", "project 4")

	// Progress moves while a worker deletes. After each batch it waits for a step, so that it can be watched.
	total := s.fill(1, 60, 100)
	job := s.enqueue(1, 0)
	steps := make(chan struct{})
	free := sync.OnceFunc(func() { close(steps) })
	stop := s.working(cascade.Config{Name: "tester:1", Batch: 5, Lease: time.Hour, Poll: 20 * time.Millisecond, Progress: true, OnEvent: progressed(func(queue.Job) { <-steps })})
	t.Cleanup(free)
	var seen []int64
	dbtest.Eventually(t, 60*time.Second, func() (bool, string) {
		select {
		case steps <- struct{}{}:
		case <-time.After(20 * time.Millisecond):
		}
		if rows := b.rows(job.ID); rows > 0 && (len(seen) == 0 || rows > seen[len(seen)-1]) {
			seen = append(seen, rows)
		}
		return len(seen) >= 3 && strings.Contains(b.text(fmt.Sprintf("#job-%d", job.ID)), "rows/s"), fmt.Sprintf("the page showed %d", seen)
	})
	if last := seen[len(seen)-1]; last >= total {
		t.Errorf("the page showed %d only after the end", seen)
	}
	b.picture("running")

	// Somebody looks, so what is left is counted: a bar and the time that is left, by table too.
	b.waits(fmt.Sprintf("#job-%d .progress", job.ID), " of about ")
	b.waits(fmt.Sprintf("#job-%d .progress", job.ID), " left")
	b.do(chromedp.Click(fmt.Sprintf("#tables-%d summary", job.ID)))
	b.waits(fmt.Sprintf("#tables-%d", job.ID), " of ")
	b.picture("counted")

	// What is typed outlives the updates; the pause is shown with its reason and can be ended.
	b.do(chromedp.SendKeys("#reason", "the shop is slow"), chromedp.Click("#pause"))
	b.waits("#switch", "the shop is slow")
	b.waits("[role=status]", "Paused")
	b.picture("paused")
	if text := b.text("#open-jobs"); strings.Contains(text, "running") || strings.Contains(text, "rows/s") {
		t.Errorf("paused, and at work: %s", text)
	}
	b.do(chromedp.Click("#resume"))
	b.waits("[role=status]", "Resumed")

	b.do(chromedp.Click(fmt.Sprintf("#job-%d-retry", dead.ID)))
	b.waits("[role=status]", "is tried again")
	b.do(chromedp.Click(fmt.Sprintf("#parked-%d-skip", row)))
	b.waits("[role=status]", "is skipped")
	b.gone("#trouble")
	free()
	b.waits("#ended", "project 1")
	b.waits("#ended", "project 2")
	if got := s.number("SELECT COUNT(*) FROM onerow_parked WHERE state = 'skipped'"); got != 1 {
		t.Errorf("%d rows are skipped", got)
	}
	if got := s.number("SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'"); got != 3 {
		t.Errorf("%d jobs are done", got)
	}
	if title := value[string](b, `document.title`); strings.Contains(title, "owned") {
		t.Error("a row's name ran as a program")
	}
	stop()
	b.picture("done")

	// Undo asks before it does anything.
	b.do(chromedp.Click(fmt.Sprintf("#job-%d-undo", grace.ID)))
	b.waits("main", "Bring project 4 back?")
	b.picture("undo")
	b.do(chromedp.Click("main button"))
	b.waits("[role=status]", "is taken back")

	// The page that is open says that the database is away, keeps what it knew, and recovers.
	s.exec("RENAME TABLE onerow_job TO away")
	b.waits("#problem", "cannot be read since")
	b.waits("#ended", "project 1")
	b.picture("away")
	s.exec("RENAME TABLE away TO onerow_job")
	b.gone("#problem")
	b.waits("#live", "Live")
}

// TestLoginInChromium signs in and out.
func TestLoginInChromium(t *testing.T) {
	s := ready(t).serve(testToken, false)
	b := newBrowser(t)
	b.do(chromedp.Navigate(s.base), chromedp.SendKeys("#token", "a guess"), chromedp.Click("main button"))
	b.waits("[role=alert]", "not the token")
	b.picture("login")
	b.do(chromedp.SendKeys("#token", testToken), chromedp.Click("main button"))
	b.waits("#open", "No job yet")
	b.do(chromedp.SendKeys("#reason", "by one who may"), chromedp.Click("#pause"))
	b.waits("#switch", "by one who may")
	b.do(chromedp.Click("header button"))
	b.waits("h1", "Sign in")
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(cascade.Event) {
	return func(e cascade.Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
