package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Retention says how long rows are kept: `retention: {column: created_at, keep: 90d}`. What is older is
// deleted by the worker as if somebody had asked for it, with everything below it. An index must begin with
// the column, a DATE, a DATETIME or a TIMESTAMP. NULL, zero dates and dates without a month or a day are
// never due.
//
// What is due is read page by page along that index, never by a scan. While as many jobs of the resource are
// due as Rate queues in two seconds, or 100, none is queued: so other deletions do not wait for it, and the
// queue does not grow where workers are slower.
//
// A row goes only if it is due when its job begins: one that was written since it was found stays, with all
// that is below it; its job ends as cancelled. The look, under the row's lock, commits with the first batch.
// Once the job has begun, the row is deleted whatever is written to it. A row is not queued while a job of it
// is dead, or has parked or skipped rows (a person decides, by a retry), nor if a deletion of it was taken
// back by undo, restore or cancel less than Keep ago: it counts as new from then on, as long as that job is
// kept (400 days, see queue.PurgeJobs).
//
// Times are the database's clock. A DATETIME or DATE is read in Zone; in an hour that the clock repeats it
// counts as the second time, so a row may go an hour late there, never early. A DATE is the beginning of its
// day. Windows say when rows are queued: what is queued by then is deleted.
type Retention struct {
	// Column is the time from which a row's age counts. Of a resource with an archive archived_at may be it,
	// too: then rows of the archive go, and those that are active stay.
	Column string `yaml:"column"`
	// Keep is how long a row stays, from then on. A day has 24 hours.
	Keep Age `yaml:"keep"`
	// Rate is how many rows may be queued in a second, by all workers together. Default: 100.
	Rate float64 `yaml:"rate,omitempty"`
	// Windows are the times when rows are queued, by a clock on the wall: "Sat 02:00-06:00",
	// "Mon-Fri 22:00-06:00", "Sat,Sun 00:00-24:00", "daily 02:00-04:00". One that ends before it begins ends
	// on the next day. The clock decides: a reading that it skips is in no window, and one that it repeats is
	// twice in the same. Default: always.
	Windows []string `yaml:"windows,flow,omitempty"`
	// Zone is the time zone of the windows, and of the column if it is a DATE or a DATETIME, by its name:
	// "Europe/Berlin". The toolkit's own columns are UTC whatever it says. Default: UTC.
	Zone string `yaml:"zone,omitempty"`
}

// mostRate is the greatest [Retention].Rate.
const mostRate = 10_000

// String is the policy on one line, as the plan spells it.
func (r Retention) String() string {
	parts := []string{"column: " + r.Column, "keep: " + r.Keep.String()}
	if r.Rate != 0 {
		parts = append(parts, fmt.Sprintf("rate: %g", r.Rate))
	}
	if len(r.Windows) > 0 {
		parts = append(parts, `windows: ["`+strings.Join(r.Windows, `", "`)+`"]`)
	}
	if r.Zone != "" {
		parts = append(parts, "zone: "+r.Zone)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (r Retention) location() (*time.Location, error) {
	if r.Zone == "" {
		return time.UTC, nil
	}
	if r.Zone == "Local" {
		return nil, errors.New("the zone Local is another one on each machine; name it")
	}
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q; one is called Europe/Berlin or UTC", r.Zone)
	}
	return zone, nil
}

// Open says whether rows may be queued at a moment, and, if not, when they may next; the zero time: never
// within the next eight days, which a change of clocks can make of a window of less than an hour.
func (r Retention) Open(at time.Time) (open bool, next time.Time) {
	zone, zoneErr := r.location()
	windows, err := r.windows()
	if zoneErr != nil || err != nil {
		return false, time.Time{}
	}
	is := func(t time.Time) bool {
		return len(windows) == 0 || slices.ContainsFunc(windows, func(w window) bool { return w.contains(t.In(zone)) })
	}
	if is(at) {
		return true, at
	}
	for t := at.Truncate(time.Minute).Add(time.Minute); t.Before(at.Add(8 * day)); t = t.Add(time.Minute) {
		if is(t) {
			return false, t
		}
	}
	return false, time.Time{}
}

// retentionIndexes are those that the policy needs in one of the resource's tables, unless one of the given
// does it.
func (r Resource) retentionIndexes(archive bool, given []shape.Index) []shape.Index {
	if r.Retention == nil || r.Retention.Column == ident.ColArchivedAt && !archive {
		return nil
	}
	column := r.Retention.Column
	if slices.ContainsFunc(given, func(x shape.Index) bool { return strings.EqualFold(x.Columns[0], column) }) {
		return nil
	}
	return []shape.Index{{Name: shape.IndexName([]string{column}, shape.Names(given)), Columns: []string{column}, Why: "what is due is found by it; without it each look reads the whole table"}}
}

// RetentionClock returns the clock by which the policy's column was written, if that has no time zone of its
// own: it gives the last reading that is certain to be no later than a moment. In an hour that the clock
// repeats, a reading counts as its second time, so none is taken for older than it may be.
func (n Node) RetentionClock() (func(at time.Time) time.Time, error) {
	if n.Managed && slices.Contains([]string{ident.ColCreatedAt, ident.ColUpdatedAt, ident.ColArchivedAt}, n.Retention.Column) {
		return time.Time.UTC, nil
	}
	zone, err := n.Retention.location()
	return func(at time.Time) time.Time {
		local := at.In(zone)
		_, end := local.ZoneBounds()
		if end.IsZero() {
			return local
		}
		_, now := local.Zone()
		_, then := end.Zone()
		back := time.Duration(now-then) * time.Second
		if first := end.Add(-back); back > 0 && !local.Before(first) {
			return first.Add(-time.Microsecond)
		}
		return local
	}, err
}
