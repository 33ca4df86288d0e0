package retentionfuzz

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// Columns of times that are tried.
const (
	datetime6  = "DATETIME(6)"
	datetime   = "DATETIME"
	date       = "DATE"
	timestamp6 = "TIMESTAMP(6)"
	timestamp  = "TIMESTAMP"
)

// table is one whose rows get old.
type table struct {
	name, column string
	two          bool // its key has two columns
	trash, below bool
	keep         time.Duration
	rate         float64
	windows      []window
}

// design is what a seed decides before anything happens; worker processes draw it again.
type design struct {
	zone    *time.Location
	changes [2]time.Time // of the zone's clock, both of a year
	tables  []table
}

// zones are those of policies: one in the north, one in the south, one whose clock changes by half an hour.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe"}

// begin is before all changes.
var begin = time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)

func draw(seed uint64) (*design, error) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeated
	name := zones[r.IntN(len(zones))]
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	d := &design{zone: zone}
	_, d.changes[0] = begin.In(zone).ZoneBounds()
	_, d.changes[1] = d.changes[0].ZoneBounds()
	d.tables = []table{
		{name: "visit", column: datetime6, trash: true, below: true},
		{name: "ping", column: timestamp6, trash: true, two: true},
		{name: "ring", column: datetime},
		{name: "beat", column: timestamp, below: true},
		{name: "meal", column: date, trash: true},
	}
	for i := range d.tables {
		t := &d.tables[i]
		t.keep = []time.Duration{40 * time.Minute, 65 * time.Minute, 3 * time.Hour, 26 * time.Hour}[r.IntN(4)]
		t.rate = []float64{300, 1000, 5000}[r.IntN(3)]
		for range 1 + r.IntN(3) {
			t.windows = append(t.windows, d.window(r))
		}
	}
	return d, nil
}

// window draws one that begins or ends around a change of the clock.
func (d *design) window(r *rand.Rand) window {
	change := d.changes[r.IntN(2)].In(d.zone)
	w := window{days: 1<<7 - 1, begin: (change.Hour()*60 + 24*60 - 120 + 5*r.IntN(44)) % (24 * 60)}
	w.end = (w.begin + 10 + 5*r.IntN(24)) % (24 * 60)
	if r.IntN(3) == 0 {
		w.days = 1<<change.Weekday() | 1<<((change.Weekday()+6)%7)
	}
	return w
}

// plan is what the workers delete by.
func (d *design) plan() schema.Plan {
	plan := schema.Plan{Trash: schema.Age(20_000 * time.Hour)}
	for _, t := range d.tables {
		policy := &schema.Retention{Column: "at", Keep: schema.Age(t.keep), Rate: t.rate, Zone: d.zone.String()}
		for _, w := range t.windows {
			policy.Windows = append(policy.Windows, w.String())
		}
		one := schema.Table{Name: t.name, Key: t.key(), Retention: policy, Triggers: []string{t.name + "_" + born}}
		if !t.trash {
			one.Trash = schema.NoTrash
		}
		plan.Tables = append(plan.Tables, one)
		if t.below {
			leaf := schema.Table{Name: t.leaf(), Key: []string{"id"}, Parents: []schema.Edge{{Table: t.name, Columns: []string{"up"}}}, Trash: one.Trash}
			plan.Tables = append(plan.Tables, leaf)
		}
	}
	return plan
}

// leaf is the name of the table below, if there is one.
func (t table) leaf() string { return t.name + "_leaf" }

func (t table) key() []string {
	if t.two {
		return []string{"host", "id"}
	}
	return []string{"id"}
}

// host is the first part of a key of two columns.
func host(id int64) string { return fmt.Sprint("h", id%3) }

// resourceID is the row's key as jobs spell it.
func (t table) resourceID(id int64) (string, error) {
	if t.two {
		return onerow.EncodeKey(host(id), id) //nolint:wrapcheck // it says all
	}
	return onerow.EncodeKey(id) //nolint:wrapcheck // it says all
}

// isTimestamp says whether the column holds instants; the others hold readings of the policy's clock.
func (t table) isTimestamp() bool { return t.column == timestamp || t.column == timestamp6 }

// fits is the last moment up to at that the column can hold.
func (d *design) fits(t table, at time.Time) time.Time {
	switch t.column {
	case date:
		y, m, day := at.In(d.zone).Date()
		return time.Date(y, m, day, 0, 0, 0, 0, d.zone)
	case datetime, timestamp:
		return at.Truncate(time.Second)
	default:
		return at.Truncate(time.Microsecond)
	}
}

// reading is a moment as the column has it: as the policy's clock shows it, or, of a TIMESTAMP, in the zone
// of the session that writes.
func (d *design) reading(t table, at time.Time, session *time.Location) string {
	if t.isTimestamp() {
		return at.In(session).Format("2006-01-02 15:04:05.000000")
	}
	if t.column == date {
		return at.In(d.zone).Format(time.DateOnly)
	}
	return at.In(d.zone).Format("2006-01-02 15:04:05.000000")
}

// String is the design for people.
func (d *design) String() string {
	text := fmt.Sprintf("%s, its clock changes at %s and %s", d.zone, d.changes[0].UTC().Format(time.RFC3339), d.changes[1].UTC().Format(time.RFC3339))
	for _, t := range d.tables {
		text += fmt.Sprintf("\n   %s: %s, kept for %v, %g a second, %v", t.name, t.column, t.keep, t.rate, t.windows)
	}
	return text
}
