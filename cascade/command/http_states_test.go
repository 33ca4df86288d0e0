package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/onerow/onerow/cascade/queue"
)

// open goes to an address of the page.
func (b *browser) open(s *site, path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(s.base + path))
}

// TestStatesInChromium looks at what TestPageInChromium does not come by.
func TestStatesInChromium(t *testing.T) {
	w := ready(t)
	w.createTrash()
	s := w.serve("", true)
	b := newBrowser(t)
	b.open(s, "/trash")
	b.waits("#empty", "The trash is empty")
	b.looks("trash-empty")
	b.open(s, "/search?q=nobody")
	b.waits("#empty", "Nothing found")
	b.looks("search-empty")
	b.open(s, "/nowhere")
	b.waits("h1", "There is nothing at this address")
	b.looks("nothing")

	b.open(s, "/delete")
	b.waits("h1", "Delete a row")
	b.looks("delete")
	// Jobs that wait, and nobody who works them; then a worker that was killed, and one that is held back.
	w.fill(1, 2, 3)
	job := s.enqueue(1, 0)
	w.fill(5, 1, 1)
	b.do(chromedp.SendKeys("#key", "5"), chromedp.Click("main button"))
	b.waits("h1", "Delete project 5?")
	b.looks("delete-sure")
	b.do(chromedp.Click("button.danger"))
	b.waits("[role=status]", "project 5 is queued")
	b.waits("#notice", "No worker is running")
	b.looks("no-worker")
	s.lease(job.ID, "shop-3:311", time.Hour)
	s.reported("shop-3:311", 20*time.Second, nil)
	s.reported("shop-4:17", time.Minute, nil)
	s.reported("shop-5:17", 0, "lag: a replica is 12 s behind, 5 s are allowed")
	s.reported("shop-6:17", 0, "load: batches get 30% of the time")
	b.waits("#workers", "gone")
	b.waits("#workers", "silent")
	b.looks("workers")
	s.post("/settings", "load", "30", "target", "20")
	s.post("/pause-resource", "resource", "project", "reason", "the shop is slow")
	b.do(chromedp.Click("#settings summary"))
	b.waits("#open-jobs", "jobs of project are paused")
	b.waits("#workers", "load 30 %")
	b.looks("paused-resource")
	s.post("/resume-resource", "resource", "project")

	// Many that failed in the same way, with rows that could not go.
	for id := 10; id < 14; id++ {
		w.fill(id, 1, 1)
		dead := s.enqueue(id, 0)
		s.end(dead.ID, queue.Dead, fmt.Sprintf("cascade: batch 3: Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction (job %d)", dead.ID))
	}
	w.fill(20, 1, 1)
	left := s.enqueue(20, 0)
	for i := range 5 {
		s.park(left.ID, "comment", i, "Error 1451 (23000): Cannot delete or update a parent row: a foreign key constraint fails (`shop`.`report`, CONSTRAINT `fk`)")
	}
	s.end(left.ID, queue.Leftovers, "")
	b.waits("#trouble", "4 jobs of project")
	b.waits("#parked", "5 rows of comment")
	b.do(chromedp.Click("#parked summary"))
	b.looks("groups")
	b.do(chromedp.Click(`#parked a.danger`))
	b.waits("h1", "Skip 5 rows of comment?")
	b.looks("skip-all")

	// A job's page, while it is open and when it has ended; what it says when it is cancelled and restored.
	path := fmt.Sprintf("/jobs/%d", job.ID)
	b.open(s, path)
	b.waits("#facts", "Asked for")
	b.looks("job")
	b.do(chromedp.Click("#do-cancel"))
	b.waits("h1", "Cancel the deletion of project 1?")
	b.looks("cancel")
	b.do(chromedp.SendKeys("#why", "a mistake"), chromedp.Click("button.danger"))
	b.waits("[role=status]", "is cancelled")
	b.waits("#done", "a mistake")
	w.fill(2, 3, 4)
	w.ok("enqueue", "project", "2", "--by", "jane", "--reason", "account closed")
	w.ok("drain")
	ended := fmt.Sprintf("/jobs/%d", w.number("SELECT MAX(id) FROM onerow_job_archive"))
	b.open(s, "/search?q=jane")
	b.waits("#found", "project 2")
	b.looks("search")
	b.open(s, "/trash")
	b.waits("#kept", "project 2")
	b.looks("trash")
	b.open(s, ended+"/expire")
	b.waits("h1", "Empty the trash of project 2?")
	b.looks("expire")
	b.open(s, ended)
	b.waits("#facts", "account closed")
	b.looks("job-ended")
	b.do(chromedp.Click("#do-restore"))
	b.waits("h1", "Restore project 2?")
	b.looks("restore")
	b.do(chromedp.Click("button.primary"))
	b.waits("[role=status]", "comes back")
	b.waits(".restoring", "is active again")
	b.looks("restored")
}

// TestKeyboardInChromium reaches everything that can be pressed with Tab alone, sees where it is, and acts with Enter.
func TestKeyboardInChromium(t *testing.T) {
	s := ready(t).serve("", true)
	for id := 1; id <= 2; id++ {
		s.fill(id, 1, 1)
		s.end(s.enqueue(id, 0).ID, queue.Dead, "cascade: refused")
	}
	b := newBrowser(t)
	b.open(s, "/")
	b.waits("#trouble", "2 jobs of project")
	want := value[int](b, focusable+`.length`)
	var reached []string
	for range want + 1 { // the link to the content is seen only when it has the focus
		b.do(chromedp.KeyEvent(kb.Tab))
		at := value[string](b, `(e => e === document.body ? '' : e.nodeName + ' ' + (e.getAttribute('aria-label') || e.innerText || e.name))(document.activeElement)`)
		if at != "" && value[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("%s does not show that it has the focus", at)
		}
		if at != "" && !slices.Contains(reached, at) {
			reached = append(reached, at)
		}
		if strings.HasPrefix(at, "BUTTON Retry all") {
			break
		}
	}
	if len(reached) < 6 || !strings.HasPrefix(reached[0], "A Skip to the content") {
		t.Errorf("Tab came by %q", reached)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waits("[role=status]", "2 jobs are tried again")
	// The rest of the page.
	b.tabs()
}
