package page

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// answer reads a question and the fields that its form has.
func (d *desk) answer(path, title string) url.Values {
	d.t.Helper()
	body := d.says(d.get(path, by(annsToken)), http.StatusOK, title)
	form := url.Values{}
	for _, found := range regexp.MustCompile(`type="hidden" name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		form.Set(found[1], found[2])
	}
	return form
}

func (d *desk) press(path string, form url.Values, want string) {
	d.t.Helper()
	form.Set("reason", "ticket 9")
	if told := d.told(d.do(http.MethodPost, path, form, by(annsToken))); !strings.Contains(told, want) {
		d.t.Errorf("%q, want %q", told, want)
	}
}

// TestRetryAllDead: those that were counted, each by its own statement; what others have decided is told.
func TestRetryAllDead(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/dead/retry", by(annsToken)), http.StatusConflict, "No job is dead any more")
	var dead []int64
	for id := 1; id <= 4; id++ {
		j := d.shelf(id, 1, 0)
		d.dead(j.ID, fmt.Sprint("error ", strings.Repeat("x", id)))
		dead = append(dead, j.ID)
	}
	d.says(d.get("/", by(annsToken)), http.StatusOK, `href="/dead/retry"`)
	form := d.answer("/dead/retry", "Retry 4 jobs?")
	if n := d.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Fatal("the question has retried them")
	}
	// Meanwhile one is retried by somebody else and works, another one's row is queued anew, a fifth one dies.
	if _, err := queue.Retry(t.Context(), d.db, dead[0]); err != nil {
		t.Fatal(err)
	}
	late := d.shelf(5, 1, 0)
	d.dead(late.ID, "e")
	second, err := queue.Get(t.Context(), d.db, dead[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Enqueue(t.Context(), d.db, queue.Deletion{Resource: "shelf", ResourceID: second.ResourceID, From: "active", ID: second.DeletionID}); err != nil {
		t.Fatal(err)
	}
	d.press("/dead/retry", form, "2 jobs are tried again, of 1 others somebody else has decided.")
	for id, want := range map[int64]queue.State{dead[0]: queue.Ready, dead[1]: queue.Dead, dead[2]: queue.Ready, dead[3]: queue.Ready, late.ID: queue.Dead} {
		if j, err := queue.Get(t.Context(), d.db, id); err != nil || j.State != want {
			t.Errorf("job %d is %s, want %s: %v", id, j.State, want, err)
		}
	}
	if n := d.number("SELECT COUNT(*) FROM onerow_action WHERE actor = 'ann (page)' AND reason = 'ticket 9'"); n != 2 {
		t.Errorf("%d actions were written down", n)
	}
	d.says(d.do(http.MethodPost, "/dead/retry", url.Values{"newest": {"0x"}, "resource": {"nonsense"}}, by(annsToken)), http.StatusNotFound, "somebody was faster")
}

// TestCancelAllInGrace: those of the resource that were counted come back; one that has begun goes on.
func TestCancelAllInGrace(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/scheduled/cancel", by(annsToken)), http.StatusBadRequest, "of which resource")
	d.says(d.get("/scheduled/cancel?resource=shelf", by(annsToken)), http.StatusConflict, "in its grace period any more")
	for id := 1; id <= 3; id++ {
		d.shelf(id, 1, time.Hour)
	}
	begun := d.shelf(4, 1, 0)
	d.says(d.get("/", by(annsToken)), http.StatusOK, `action="/scheduled/cancel"`, "<option>shelf</option>")
	form := d.answer("/scheduled/cancel?resource=shelf", "Undo 3 jobs of shelf?")
	late := d.shelf(5, 1, time.Hour) // nobody has asked about it
	d.press("/scheduled/cancel", form, "3 deletions are taken back.")
	for id, want := range map[int64]queue.State{begun.ID: queue.Ready, late.ID: queue.Scheduled} {
		if j, err := queue.Get(t.Context(), d.db, id); err != nil || j.State != want {
			t.Errorf("job %d is %s, want %s: %v", id, j.State, want, err)
		}
	}
	if n := d.number("SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'cancelled'"); n != 3 {
		t.Errorf("%d jobs are cancelled", n)
	}
	d.press("/scheduled/cancel", url.Values{}, "No resource is named")
}

// TestTally: what was not done is told with the reason, and how many there was no time for.
func TestTally(t *testing.T) {
	all := tally{noun: "job", verb: "tried again"}
	all.add(nil)
	all.add(fmt.Errorf("one: %w", queue.ErrWrongState))
	all.late = 3
	if text, err := all.told(); err != nil || text != "1 job is tried again, of 1 others somebody else has decided; for 3 there was no time, so do it again." {
		t.Error(text, err)
	}
	all.add(fmt.Errorf("no right"))
	all.add(fmt.Errorf("another"))
	if text, err := all.told(); err == nil || !strings.HasSuffix(err.Error(), "but 2 jobs are not, the first because: no right") {
		t.Error(text, err)
	}
}

// TestTimeLeft: from what is left and the rate; nothing while one of them is not known.
func TestTimeLeft(t *testing.T) {
	now := time.Now()
	job := queue.Job{ID: 7, State: queue.Running, DeletedRows: 1000, DueAt: now.Add(time.Minute)}
	for name, c := range map[string]struct {
		left remaining
		rate float64
		want string
	}{
		"minutes":       {remaining{Left: 2000, Deleted: 1000}, 9, "~33 % · 1,000 of about 3,000 rows · about 4 min left"},
		"seconds":       {remaining{Left: 2000, Deleted: 1000}, 100, "~33 % · 1,000 of about 3,000 rows · about 20 s left"},
		"at least":      {remaining{Left: 2000, Deleted: 1000, AtLeast: true}, 1, "under 34 % · 1,000 of at least 3,000 rows · at least 34 min left"},
		"days":          {remaining{Left: 1_000_000, Deleted: 1000}, 1, "~0 % · 1,000 of about 1,001,000 rows · about 12 days left"},
		"no rate yet":   {remaining{Left: 2000, Deleted: 1000}, -1, "~33 % · 1,000 of about 3,000 rows"},
		"nothing moves": {remaining{Left: 2000, Deleted: 1000}, 0, "~33 % · 1,000 of about 3,000 rows"},
		"nothing left":  {remaining{Left: 0, Deleted: 1000}, 5, "nearly done"},
	} {
		b := &board{At: now, Rates: map[int64]float64{job.ID: c.rate}}
		if c.rate < 0 {
			delete(b.Rates, job.ID)
		}
		if got := progressOf(b, job, c.left); got.Text != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text, c.want)
		}
	}
	b := &board{At: now.Add(time.Hour), Rates: map[int64]float64{job.ID: 5}} // its lease has ended
	if got := progressOf(b, job, remaining{Left: 2000, Deleted: 1000}); strings.Contains(got.Text, "left") {
		t.Errorf("nobody works, and %q", got.Text)
	}
}
