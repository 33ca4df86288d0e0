package adopt_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/live"
)

// kept is what a row must have at the end.
type kept struct {
	title            string
	created, updated int64 // microseconds since 1970; updated is 0 where the writer has moved it
	price            float64
}

// readAll reads all rows; times are read in a session at UTC.
func readAll(t *testing.T, db *sql.DB) map[int64]kept {
	t.Helper()
	all := map[int64]kept{}
	rows, err := db.QueryContext(t.Context(), `SELECT id, title, CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) AS SIGNED),
 CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', updated_at) AS SIGNED), price FROM tickets`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var id int64
		var k kept
		if err := rows.Scan(&id, &k.title, &k.created, &k.updated, &k.price); err != nil {
			t.Fatal(err)
		}
		all[id] = k
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// writer is a program that goes on while the table becomes a resource, and remembers what it has written.
type writer struct {
	db    *sql.DB
	rows  map[int64]kept
	ids   []int64
	r     *rand.Rand
	next  int
	wrote int
}

// run writes until stop is closed, at least a few times.
func (w *writer) run(ctx context.Context, stop <-chan struct{}, write func(context.Context) error) error {
	for n := 0; ; n++ {
		select {
		case <-stop:
			if n > 20 {
				return nil
			}
		default:
		}
		if err := write(ctx); err != nil {
			return err
		}
		w.wrote++
	}
}

func (w *writer) pick() int64 {
	for {
		i := w.r.IntN(len(w.ids))
		if _, ok := w.rows[w.ids[i]]; ok {
			return w.ids[i]
		}
		w.ids[i] = w.ids[len(w.ids)-1]
		w.ids = w.ids[:len(w.ids)-1]
	}
}

// old writes as a program that knows nothing: plain INSERT, UPDATE and DELETE without any of the new columns.
func (w *writer) old(ctx context.Context) error { return w.write(ctx, "", "", nil) }

// taught writes all that the last file wants, in statements of its own.
func (w *writer) taught(ctx context.Context) error {
	return w.write(ctx, ", title_key, stem_key, copy_no, created_at, updated_at", ", ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)", func(title string) []any {
		n, err := names.KindName.Parse(title)
		if err != nil {
			return nil
		}
		return []any{[]byte(n.Key), []byte(n.StemKey), n.Copy}
	})
}

func (w *writer) write(ctx context.Context, columns, values string, keys func(string) []any) error {
	more := func(title string) []any {
		if keys == nil {
			return nil
		}
		return keys(title)
	}
	w.next++
	title := fmt.Sprintf("Written  %d (Copy %d)", w.next, w.next%7)
	switch n := w.r.IntN(10); {
	case n < 3:
		res, err := w.db.ExecContext(ctx, "INSERT INTO tickets (desk_id, title, price"+columns+") VALUES (?, ?, 7"+values+")", append([]any{w.next%3 + 1, title}, more(title)...)...)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		w.rows[id], w.ids = kept{title: title, price: 7}, append(w.ids, id)
		return err
	case n < 5:
		id := w.pick()
		delete(w.rows, id)
		_, err := w.db.ExecContext(ctx, "DELETE FROM tickets WHERE id = ?", id)
		return err
	case n < 8:
		set := ""
		if keys != nil {
			set = ", title_key = ?, stem_key = ?, copy_no = ?"
		}
		id := w.pick()
		k := w.rows[id]
		k.title, k.updated = title, 0
		w.rows[id] = k
		_, err := w.db.ExecContext(ctx, "UPDATE tickets SET title = ?"+set+" WHERE id = ?", append(append([]any{title}, more(title)...), id)...)
		return err
	}
	id := w.pick()
	k := w.rows[id]
	k.price, k.updated = float64(w.next), 0
	w.rows[id] = k
	_, err := w.db.ExecContext(ctx, "UPDATE tickets SET price = ? WHERE id = ?", w.next, id)
	return err
}

// beside runs work while the writer writes.
func (w *writer) beside(t *testing.T, write func(context.Context) error, work func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan error, 1)
	before := w.wrote
	go func() { done <- w.run(t.Context(), stop, write) }()
	func() {
		defer close(stop)
		work()
	}()
	if err := <-done; err != nil {
		t.Fatalf("the writer beside it: %v", err)
	}
	t.Logf("%d writes beside it", w.wrote-before)
}

// TestOldWriter: 10,000 rows become those of a resource while a program that knows nothing of it inserts,
// changes, renames and deletes, in a session of another time zone; then while one writes that was taught. The
// files are run in a third zone. No write is refused, no row is lost, no time moves, and at the end Verify
// has nothing to say.
func TestOldWriter(t *testing.T) {
	t.Parallel()
	db, dsn := old(t, 10_000)
	migrating := dbtest.OpenDSN(t, dsn+"&time_zone=%27-11%3A00%27")
	w := &writer{rows: readAll(t, db), r: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // a test
	for id := range w.rows {
		w.ids = append(w.ids, id)
	}
	up := func(last bool) {
		for _, s := range planned(t, migrating, plan()).Steps {
			if s.Last != last {
				continue
			}
			for range 2 {
				if err := send(t.Context(), migrating, adopt.Statements(s.Up)); err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
			}
		}
	}
	w.db = dbtest.OpenDSN(t, dsn+"&time_zone=%27%2B05%3A30%27")
	var first adopt.Report
	w.beside(t, w.old, func() {
		up(false)
		f, err := adopt.New(t.Context(), migrating, plan(), "ticket")
		if err != nil {
			t.Fatal(err)
		}
		if first, err = f.Run(t.Context(), migrating, adopt.Options{}); err != nil || first.LeftRows > 0 {
			t.Fatalf("%+v, %v", first, err)
		}
	})
	if first.Written < 9_000 {
		t.Errorf("%+v", first)
	}
	filled(t, migrating, plan()) // what the old one has left behind
	w.db = db
	w.beside(t, w.taught, func() { up(true) })
	if err := live.Verify(t.Context(), db, plan()); err != nil {
		t.Error(err)
	}
	if again := filled(t, db, plan()); again.Written != 0 {
		t.Errorf("keys were wrong: %+v", again)
	}
	all := readAll(t, db)
	if len(all) != len(w.rows) {
		t.Errorf("%d rows, want %d", len(all), len(w.rows))
	}
	wrong := 0
	for id, want := range w.rows {
		have := all[id]
		if want.updated == 0 {
			have.updated = 0
		}
		if want.created == 0 {
			have.created = 0
		}
		if have != want {
			if wrong++; wrong < 5 {
				t.Errorf("row %d is %+v, want %+v", id, have, want)
			}
		}
	}
	t.Logf("%d writes in all, %d rows are left", w.wrote, len(all))
}
