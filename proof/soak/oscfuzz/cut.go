package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// cut is one cut-over, as gh-ost makes it:
//
//	session 1                                     session 2
//	CREATE TABLE old                              .
//	LOCK TABLES table WRITE, old WRITE            .
//	(catches up)                                  RENAME table TO old, copy TO table     waits for the lock, and
//	                                              .                                      would fail, for old exists
//	DROP TABLE old                                .
//	UNLOCK TABLES                                 goes first, before all writers
//
// Where session 1 dies, old is there, so session 2 fails and nothing has changed. It answers whether the
// tables are exchanged.
func (g *ghost) cut(ctx context.Context, disturb bool) (done bool, err error) {
	lock, err := g.admin.Conn(ctx)
	if err != nil {
		return false, err //nolint:wrapcheck // it is looked at
	}
	defer func() { err = errors.Join(err, ignoreBad(lock.Close())) }()
	id, err := g.locked(ctx, lock)
	if err != nil {
		return false, errors.Join(err, unlock(ctx, lock))
	}
	step := 0 // of the abort; 0: none
	if disturb {
		step = 1 + g.r.IntN(4)
	}
	if step == 1 { // the session of the locks dies before the other one has begun
		return false, errors.Join(errAbort, execAll(ctx, g.admin, "KILL "+id))
	}
	renamed := make(chan error, 1)
	rename, err := g.admin.Conn(ctx)
	if err != nil {
		return false, errors.Join(err, unlock(ctx, lock))
	}
	defer func() { err = errors.Join(err, ignoreBad(rename.Close())) }()
	var other string
	if err := rename.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&other); err != nil {
		return false, errors.Join(err, unlock(ctx, lock))
	}
	go func() {
		_, err := rename.ExecContext(ctx, fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", ident.Quote(g.table), ident.Quote(g.old), ident.Quote(g.copy), ident.Quote(g.table)))
		renamed <- err
	}()
	fuzz.Pause(ctx, time.Duration(20+g.r.IntN(20))*time.Millisecond)
	waits, err := fuzz.Within(ctx, time.Second, func() (bool, error) { return g.waits(ctx, other) })
	if !waits || err != nil {
		return false, errors.Join(err, errors.New("the rename does not wait"), unlock(ctx, lock), <-renamed)
	}
	if step > 1 {
		return false, errors.Join(errAbort, g.abort(ctx, step, lock, id, other), <-renamed)
	}
	fuzz.Pause(ctx, time.Duration(g.r.IntN(400))*time.Millisecond)
	if _, err := lock.ExecContext(ctx, "DROP TABLE "+ident.Quote(g.old)); err != nil {
		return false, errors.Join(err, unlock(ctx, lock), <-renamed)
	}
	// Now it waits for the table, if it has come so far: it must be before the writers that wait.
	fuzz.Pause(ctx, 300*time.Millisecond)
	err = errors.Join(unlock(ctx, lock), <-renamed)
	return err == nil, err
}

// locked makes the table that is in the way, locks all, and catches up.
func (g *ghost) locked(ctx context.Context, lock *sql.Conn) (id string, err error) {
	old, t, c := ident.Quote(g.old), ident.Quote(g.table), ident.Quote(g.copy)
	tables := t + " WRITE, " + old + " WRITE"
	if g.triggers {
		tables += ", " + c + " WRITE"
	}
	for _, query := range []string{
		"SET SESSION lock_wait_timeout = 1", "CREATE TABLE " + old + " (id INT PRIMARY KEY) ENGINE=InnoDB", "LOCK TABLES " + tables,
	} {
		if _, err := lock.ExecContext(ctx, query); err != nil {
			return "", fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	if err := lock.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return "", err //nolint:wrapcheck // it is looked at
	}
	if g.r.IntN(6) == 0 { // longer than the others wait for a lock
		g.count("long lock", nil)
		fuzz.Pause(ctx, 2500*time.Millisecond)
	}
	return id, g.catchUp(ctx, lock)
}

// abort ends a cut-over whose rename waits.
func (g *ghost) abort(ctx context.Context, step int, lock *sql.Conn, id, other string) error {
	switch step {
	case 2: // the session of the locks dies: the rename finds the table in its way
		return execAll(ctx, g.admin, "KILL "+id)
	case 3: // the rename is ended
		return errors.Join(execAll(ctx, g.admin, "KILL QUERY "+other), unlock(ctx, lock))
	default: // it has lasted too long: the rename finds the table in its way
		return unlock(ctx, lock)
	}
}

// waits says whether a session waits for a lock on a table's definition.
func (g *ghost) waits(ctx context.Context, id string) (bool, error) {
	states, err := g.names(ctx, "SELECT COALESCE(state, '') FROM information_schema.processlist WHERE id = ? AND info LIKE 'RENAME%' AND state LIKE 'Waiting for table%'", id)
	return len(states) > 0, err
}

func unlock(ctx context.Context, lock *sql.Conn) error {
	_, err := lock.ExecContext(ctx, "UNLOCK TABLES")
	return err //nolint:wrapcheck // it is looked at
}

// ignoreBad is err, but for a session that was killed.
func ignoreBad(err error) error {
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}
