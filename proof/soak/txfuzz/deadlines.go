package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

var quietTables = []string{
	"CREATE TABLE held (id INT NOT NULL PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE effect (tx BIGINT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
	"INSERT INTO held VALUES (0, 0), (1, 0), (2, 0), (3, 0)",
}

// lanes is how many rows are locked at a time.
const lanes = 4

// sqlWaiting finds who waits for a lane's row. A text of several statements is shown as the one that runs.
const sqlWaiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = '" + quiet + "' AND info LIKE ? AND id <> CONNECTION_ID()"

// lane is one of the rows, with one transaction after the other that wants it.
type lane struct {
	*world
	row   int
	pools []*shared
}

func (l *lane) held() string { return fmt.Sprintf("UPDATE held SET v = v + 1 WHERE id = %d", l.row) }
func (l *lane) locked() string {
	return fmt.Sprintf("SELECT v FROM held WHERE id = %d FOR UPDATE", l.row)
}

// waiting counts them.
func (l *lane) waiting(ctx context.Context) (n int, err error) {
	if err := l.admin.QueryRowContext(ctx, sqlWaiting, fmt.Sprintf("%%held%%id = %d%%", l.row)).Scan(&n); err != nil {
		return 0, fmt.Errorf("soak: %w", err)
	}
	return n, nil
}

// waits are the ways in which a statement meets the lock.
var waits = []struct {
	name string
	fn   func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, locked string) error
}{
	{"ExecLast of both", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		return packet.ExecLast(ctx, tx, row, held)
	}},
	{"Exec, then ExecLast", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		if _, err := tx.ExecContext(ctx, row.Query, row.Args...); err != nil {
			return err //nolint:wrapcheck // of the function
		}
		return packet.ExecLast(ctx, tx, held)
	}},
	{"Exec", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		_, err := tx.ExecContext(ctx, held.Query)
		if err == nil {
			_, err = tx.ExecContext(ctx, row.Query, row.Args...)
		}
		return err //nolint:wrapcheck // of the function
	}},
	{"ExecAll", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		return packet.ExecAll(ctx, tx, row, held)
	}},
	{"QueryAfter", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		return packet.QueryAfter(ctx, tx, []onerow.Stmt{row, held}, "SELECT 1", nil, func(*sql.Rows) error { return nil })
	}},
	{"QueryLast", func(ctx context.Context, tx *onerow.Tx, _, _ onerow.Stmt, locked string) error {
		return packet.QueryLast(ctx, tx, locked, nil, func(*sql.Rows) error { return nil })
	}},
	{"a prepared statement", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		if _, err := tx.ExecContext(ctx, row.Query, row.Args...); err != nil {
			return err //nolint:wrapcheck // of the function
		}
		st, err := tx.PrepareContext(ctx, held.Query)
		if err != nil {
			return err //nolint:wrapcheck // of the function
		}
		_, err = st.ExecContext(ctx)
		return errors.Join(err, st.Close())
	}},
	{"the *sql.Tx", func(ctx context.Context, tx *onerow.Tx, row, held onerow.Stmt, _ string) error {
		_, err := tx.SQL().ExecContext(ctx, held.Query)
		if err == nil {
			_, err = tx.SQL().ExecContext(ctx, row.Query, row.Args...)
		}
		return err //nolint:wrapcheck // of the function
	}},
}

// locks locks a row for longer than the deadline of a transaction that wants it, over and over, where nothing
// is killed or cut. The answer must come soon after the deadline, and the session must not wait on.
func (w *world) locks(ctx context.Context, r *rand.Rand) error {
	if !slices.Contains(w.attacks, deadlines) {
		return nil
	}
	pools, err := openPools(w.server, w.server.Config("").Addr, quiet, 30)
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range pools {
			fuzz.Close(p.db)
		}
	}()
	var all sync.WaitGroup
	errs := make([]error, lanes)
	for i := range lanes {
		l := &lane{world: w, row: i, pools: pools}
		r := rand.New(rand.NewPCG(r.Uint64(), uint64(i))) //nolint:gosec // not a secret; i is small
		all.Go(func() {
			for errs[i] == nil && fuzz.Pause(ctx, time.Duration(r.Int64N(int64(200*time.Millisecond)))) {
				errs[i] = l.below(context.WithoutCancel(ctx), r, pools[r.IntN(len(pools))])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// below runs one transaction below a lock.
func (l *lane) below(ctx context.Context, r *rand.Rand, p *shared) (err error) {
	id := l.ids.Add(1)
	holder, err := l.admin.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, ignored(holder.Rollback())) }()
	if _, err := holder.ExecContext(ctx, l.held()); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	d := 30*time.Millisecond + time.Duration(r.Int64N(int64(300*time.Millisecond)))
	release := time.AfterFunc(d+2*l.late+time.Second, func() { _ = holder.Rollback() }) //nolint:errcheck // it is over then
	defer release.Stop()
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	way := waits[r.IntN(len(waits))]
	row := onerow.Stmt{Query: "INSERT INTO effect (tx) VALUES (?)", Args: []any{id}, One: true}
	told := onerow.InTx(limited, p.db, func(ctx context.Context, tx *onerow.Tx) error {
		return way.fn(ctx, tx, row, onerow.Stmt{Query: l.held()}, l.locked())
	})
	deadline, _ := limited.Deadline()
	l.counts.deadlines.Add(1)
	l.overshoot(limited, fmt.Errorf("%s on %s, a deadline of %v below a lock: %w", way.name, p.name, d, cmpErr(told)))
	if time.Since(deadline) > l.late {
		return l.fate(ctx, id, way.name, told) // it was released
	}
	waiting := 0
	gone, err := fuzz.Within(ctx, l.late, func() (ok bool, err error) {
		waiting, err = l.waiting(ctx)
		return waiting == 0, err
	})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if !gone && p.name == "Open" { // what its server calls a session of another connector, the guard does not know
		l.found.Add(brokenWaiting, "%d, %v after the answer (%v): %s on %s", waiting, l.late, told, way.name, p.name)
	}
	if err := ignored(holder.Rollback()); err != nil {
		return err
	}
	return l.fate(ctx, id, way.name, told)
}

var errNone = errors.New("no error")

func cmpErr(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

func ignored(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// fate looks whether the transaction is what its caller was told.
func (l *lane) fate(ctx context.Context, id int64, way string, told error) error {
	if way == "QueryLast" {
		return nil // it wrote nothing
	}
	settled, err := fuzz.Within(ctx, l.late, func() (bool, error) {
		n, err := l.waiting(ctx)
		return n == 0, err
	})
	if err != nil || !settled {
		return err //nolint:wrapcheck // it says all
	}
	var n int
	if err := l.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM effect WHERE tx = ?", id).Scan(&n); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	switch v := verdictOf(told); {
	case v == acked && n == 0:
		l.found.Add(brokenAck, "below a lock, by %s: it is not there", way)
	case v == failed && n > 0:
		l.found.Add(brokenFailed, "below a lock, by %s (%v): it is there", way, told)
	}
	return nil
}
