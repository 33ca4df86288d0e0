package retentionfuzz

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// event is a row of the witness.
type event struct {
	seq     int64
	what    string
	name    string // of the table or the policy
	id      int64  // of the row; looked: of the job
	version int64
	began   time.Time // of a TIMESTAMP, as it is stored; zero: it is NULL
	at      time.Time
}

// job is one, open or in the archive.
type job struct {
	place
	state, why string
	ended      time.Time // zero: it is open
}

// takenBack says whether a person has taken the deletion back.
func (j job) takenBack() bool {
	return (j.state == "cancelled" || j.state == "restored") && !strings.HasPrefix(j.why, "retention: ")
}

// spared says whether the job found that its row is not due.
func (j job) spared() bool { return j.state == "cancelled" && strings.HasPrefix(j.why, "retention: ") }

// audit is an entry of the audit that retention has made.
type audit struct {
	table int
	at    time.Time
}

// history is all that the judge goes by.
type history struct {
	*design
	entries  []entry
	asked    map[place]bool
	restored []int64
	events   []event // in their order
	jobs     map[int64]job
	audits   []audit // in their order
	live     map[place]int64
	copies   map[place]map[int64]int // by version
	leaves   map[place]int           // that there should be
	below    map[place]int           // that there are
	stored   map[place]int           // in the trash
	parked   int64
	now      time.Time
	before   func(at time.Time, ago time.Duration) time.Time
}

func (d *design) tableOf(name string) int {
	for i, t := range d.tables {
		if t.name == name {
			return i
		}
	}
	return -1
}

const micro = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', "

// read reads all tables.
func (w *world) read(ctx context.Context, db *sql.DB) (*history, error) {
	h := &history{design: w.design, entries: w.book.entries, asked: w.book.asked, restored: w.book.restored, jobs: map[int64]job{}, live: map[place]int64{},
		copies: map[place]map[int64]int{}, leaves: map[place]int{}, below: map[place]int{}, stored: map[place]int{}, before: w.clock.before}
	places, err := w.places()
	if err != nil {
		return nil, err
	}
	each := func(query string, scan func(rows *sql.Rows) error) {
		if err == nil {
			err = onerow.Query(ctx, db, query, nil, scan)
		}
	}
	var now int64
	each("SELECT "+sqlNow+", (SELECT COUNT(*) FROM onerow_parked)", func(rows *sql.Rows) error { return rows.Scan(&now, &h.parked) })
	h.now = time.UnixMicro(now)
	each("SELECT seq, what, name, id, version, CAST(COALESCE(began * 1000000, 0) AS SIGNED), "+micro+"at) FROM witness ORDER BY seq", func(rows *sql.Rows) error {
		var e event
		var began, at int64
		err := rows.Scan(&e.seq, &e.what, &e.name, &e.id, &e.version, &began, &at)
		if e.at = time.UnixMicro(at); began != 0 {
			e.began = time.UnixMicro(began)
		}
		h.events = append(h.events, e)
		return err
	})
	for _, table := range []string{"id, resource, resource_id, state, last_error, " + micro + "finished_at) FROM onerow_job_archive", "id, resource, resource_id, state, last_error, 0 FROM onerow_job"} {
		each("SELECT "+table, func(rows *sql.Rows) error {
			var id, ended int64
			var name, key string
			var why sql.NullString
			var j job
			err := rows.Scan(&id, &name, &key, &j.state, &why, &ended)
			if j.place, j.why = places[name+"/"+key], why.String; ended != 0 {
				j.ended = time.UnixMicro(ended)
			}
			h.jobs[id] = j
			return err
		})
	}
	each("SELECT resource, "+micro+"requested_at) FROM onerow_deletion WHERE deleted_from = 'due' ORDER BY requested_at", func(rows *sql.Rows) error {
		var name string
		var at int64
		err := rows.Scan(&name, &at)
		h.audits = append(h.audits, audit{w.tableOf(name), time.UnixMicro(at)})
		return err
	})
	for i := range w.tables {
		h.readTable(i, each)
	}
	return h, err
}

// inTrash is the trash of a table, without the copies of steps that came back: these stay until they are
// purged.
func inTrash(name string) string {
	return ident.TrashTable(name) + " AS k JOIN onerow_trash AS s ON s.job_id = k." + ident.ColTrashJob + " AND s.step = k." + ident.ColTrashStep + " AND s.kept_rows > 0"
}

// readTable reads a table, its trash, and what is below both.
func (h *history) readTable(i int, each func(query string, scan func(rows *sql.Rows) error)) {
	t := h.tables[i]
	each("SELECT id, version, leaves FROM "+t.name, func(rows *sql.Rows) error {
		var id, version int64
		var leaves int
		err := rows.Scan(&id, &version, &leaves)
		h.live[place{i, id}], h.leaves[place{i, id}] = version, leaves
		return err
	})
	if t.trash {
		each("SELECT k.id, version, leaves FROM "+inTrash(t.name), func(rows *sql.Rows) error {
			var id, version int64
			var leaves int
			err := rows.Scan(&id, &version, &leaves)
			p := place{i, id}
			if h.copies[p] == nil {
				h.copies[p] = map[int64]int{}
			}
			h.copies[p][version]++
			h.leaves[p] = leaves
			return err
		})
	}
	count := func(table string, into map[place]int) {
		each("SELECT up, COUNT(*) FROM "+table+" GROUP BY up", func(rows *sql.Rows) error {
			var id int64
			var n int
			err := rows.Scan(&id, &n)
			into[place{i, id}] = n
			return err
		})
	}
	if t.below {
		count(t.leaf(), h.below)
		if t.trash {
			count(inTrash(t.leaf()), h.stored)
		}
	}
}

// places are all rows that there ever were, by the name of the table and the key as jobs spell it.
func (w *world) places() (map[string]place, error) {
	all := map[string]place{}
	for i, t := range w.tables {
		for id := range w.ids[i].Load() {
			key, err := t.resourceID(id + 1)
			if err != nil {
				return nil, err
			}
			all[t.name+"/"+key] = place{i, id + 1}
		}
	}
	return all, nil
}
