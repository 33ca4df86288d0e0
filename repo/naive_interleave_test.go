package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// The tables of the naive twins, as people make them: without the unique indexes that decide.
var plainTables = []string{
	"CREATE TABLE plain (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, code INT NOT NULL DEFAULT 0) ENGINE=InnoDB",
	"CREATE TABLE plain_archive (id BIGINT NOT NULL, name VARCHAR(40) NOT NULL, hidden INT NOT NULL DEFAULT 0) ENGINE=InnoDB",
	"CREATE TABLE plain_child (id BIGINT AUTO_INCREMENT PRIMARY KEY, parent BIGINT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE plain_job (id BIGINT AUTO_INCREMENT PRIMARY KEY, row_id BIGINT NOT NULL, state VARCHAR(10) NOT NULL DEFAULT 'ready') ENGINE=InnoDB",
	"CREATE TABLE plain_request (request VARCHAR(20) NOT NULL, row_id BIGINT NOT NULL) ENGINE=InnoDB",
}

var plainNames = []string{"plain", "plain_archive", "plain_child", "plain_job", "plain_request"}

// twin is what people write in place of a verb: read, decide, write.
type twin struct {
	verb   string // of which it is the twin
	setup  []string
	calls  []func(ctx context.Context, db *sql.DB) error // one: sent twice
	asOnce bool
	stops  bool
	// The statements that race, in the order in which the printed schedule must show them.
	shows []string
}

var errNameTaken = errors.New("the name is taken")

// transaction runs fn between BEGIN and COMMIT.
func transaction(fn func(ctx context.Context, tx *sql.Tx) error) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func number(ctx context.Context, db queryer, query string, args ...any) (n int64, err error) {
	err = db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// writes runs statements until one fails.
func writes(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// unlessNamed looks whether the name is free and then writes.
func unlessNamed(write string) func(context.Context, *sql.DB) error {
	return transaction(func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, "SELECT COUNT(*) FROM plain WHERE name = 'A'")
		if err == nil && n > 0 {
			err = errNameTaken
		}
		return errors.Join(err, onNil(err, func() error { return writes(ctx, tx, write) }))
	})
}

func onNil(err error, fn func() error) error {
	if err != nil {
		return nil
	}
	return fn()
}

// naiveMove copies what it read to the other table and deletes it by its key alone.
func naiveMove(from, to string) func(context.Context, *sql.DB) error {
	return transaction(func(ctx context.Context, tx *sql.Tx) error {
		var name string
		err := tx.QueryRowContext(ctx, "SELECT name FROM "+from+" WHERE id = 1").Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it is there already
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO "+to+" (id, name) VALUES (1, ?)", name)
		}
		return errors.Join(err, onNil(err, func() error { return writes(ctx, tx, "DELETE FROM "+from+" WHERE id = 1") }))
	})
}

// naiveRename is right; it is the archive beside it that loses what it wrote.
func naiveRename(ctx context.Context, db *sql.DB) error {
	res, err := db.ExecContext(ctx, "UPDATE plain SET name = 'B' WHERE id = 1")
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = errors.New("not active")
	}
	return err
}

func twins() []twin {
	requested := transaction(func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, "SELECT COUNT(*) FROM plain_request WHERE request = 'r'")
		if err != nil || n > 0 {
			return err
		}
		return writes(ctx, tx, "INSERT INTO plain (name) VALUES ('A')", "INSERT INTO plain_request VALUES ('r', LAST_INSERT_ID())")
	})
	update := transaction(func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, "SELECT code FROM plain WHERE id = 1")
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE plain SET code = ? WHERE id = 1", n+1)
		return err
	})
	// The job is queued in a transaction of its own, after the delete's COMMIT.
	deleteThenQueue := func(ctx context.Context, db *sql.DB) error {
		n, err := number(ctx, db, "SELECT COUNT(*) FROM plain WHERE id = 1")
		if err != nil || n == 0 {
			return err
		}
		return writes(ctx, db, "DELETE FROM plain WHERE id = 1", "INSERT INTO plain_job (row_id) VALUES (1)")
	}
	// The same, and only who deleted the row queues it: right, unless its process stops in between.
	deleteMineThenQueue := func(ctx context.Context, db *sql.DB) error {
		res, err := db.ExecContext(ctx, "DELETE FROM plain WHERE id = 1")
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return writes(ctx, db, "INSERT INTO plain_job (row_id) VALUES (1)")
	}
	deleteTree := transaction(func(ctx context.Context, tx *sql.Tx) error {
		return writes(ctx, tx, "DELETE FROM plain_child WHERE parent = 1", "DELETE FROM plain WHERE id = 1")
	})
	child := transaction(func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, "SELECT COUNT(*) FROM plain WHERE id = 1")
		if err == nil && n == 0 {
			err = errors.New("no such parent")
		}
		return errors.Join(err, onNil(err, func() error { return writes(ctx, tx, "INSERT INTO plain_child (parent) VALUES (1)") }))
	})
	activateAs := transaction(func(ctx context.Context, tx *sql.Tx) error {
		n, err := number(ctx, tx, "SELECT COUNT(*) FROM plain WHERE name = 'A'")
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO plain (id, name) VALUES (1, ?)", []string{"A", "A (Copy 1)"}[min(n, 1)])
		return errors.Join(err, onNil(err, func() error { return writes(ctx, tx, "DELETE FROM plain_archive WHERE id = 1") }))
	})
	ifScheduled := func(statements ...string) func(context.Context, *sql.DB) error {
		return transaction(func(ctx context.Context, tx *sql.Tx) error {
			n, err := number(ctx, tx, "SELECT COUNT(*) FROM plain_job WHERE state = 'later'")
			if err == nil && n == 0 {
				err = errors.New("too late")
			}
			return errors.Join(err, onNil(err, func() error { return writes(ctx, tx, statements...) }))
		})
	}
	find := func(ctx context.Context, db *sql.DB) error {
		for _, table := range plainNames[:2] {
			if n, err := number(ctx, db, "SELECT COUNT(*) FROM "+table+" WHERE id = 1"); err != nil || n > 0 {
				return err
			}
		}
		return errors.New("not found")
	}
	one, hidden := "INSERT INTO plain (id, name) VALUES (1, 'A')", "INSERT INTO plain_archive VALUES (1, 'A', 1)"
	type calls = []func(context.Context, *sql.DB) error
	return []twin{
		{verb: "create, create: look for the name, then insert", calls: calls{unlessNamed("INSERT INTO plain (name) VALUES ('A')")},
			shows: []string{"SELECT COUNT(*) FROM plain", "SELECT COUNT(*) FROM plain", "INSERT INTO plain (name)", "INSERT INTO plain (name)"}},
		{verb: "create with a request id, twice: look for the id, then insert", calls: calls{requested}, asOnce: true,
			shows: []string{"SELECT COUNT(*) FROM plain_request", "SELECT COUNT(*) FROM plain_request", "INSERT INTO plain_request", "INSERT INTO plain_request"}},
		{verb: "create a child, delete: look for the parent, then insert", setup: []string{one}, calls: calls{child, deleteTree},
			shows: []string{"SELECT COUNT(*) FROM plain", "DELETE FROM plain_child", "INSERT INTO plain_child"}},
		{verb: "rename, rename: look for the name, then update", setup: []string{"INSERT INTO plain (id, name) VALUES (1, 'X'), (2, 'Y')"},
			calls: calls{unlessNamed("UPDATE plain SET name = 'A' WHERE id = 1"), unlessNamed("UPDATE plain SET name = 'A' WHERE id = 2")},
			shows: []string{"SELECT COUNT(*) FROM plain", "SELECT COUNT(*) FROM plain", "UPDATE plain SET name = 'A'", "UPDATE plain SET name = 'A'"}},
		{verb: "update, update: read, then write", setup: []string{one}, calls: calls{update},
			shows: []string{"SELECT code FROM plain", "SELECT code FROM plain", "UPDATE plain SET code", "UPDATE plain SET code"}},
		{verb: "archive, twice: read, copy, delete by the key alone", setup: []string{one}, calls: calls{naiveMove("plain", "plain_archive")}, asOnce: true,
			shows: []string{"SELECT name FROM plain WHERE", "SELECT name FROM plain WHERE", "INSERT INTO plain_archive", "INSERT INTO plain_archive"}},
		{verb: "archive, rename: read, copy, delete by the key alone", setup: []string{one}, calls: calls{naiveMove("plain", "plain_archive"), naiveRename},
			shows: []string{"SELECT name FROM plain WHERE", "UPDATE plain SET name", "DELETE FROM plain WHERE"}},
		{verb: "activate, twice: read, copy, delete by the key alone", setup: []string{"INSERT INTO plain_archive VALUES (1, 'A', 0)"},
			calls: calls{naiveMove("plain_archive", "plain")}, asOnce: true,
			shows: []string{"SELECT name FROM plain_archive", "SELECT name FROM plain_archive", "INSERT INTO plain (id, name)", "INSERT INTO plain (id, name)"}},
		{verb: "activate, create: look for the name, then insert", setup: []string{"INSERT INTO plain_archive VALUES (1, 'A', 0)"},
			calls: calls{activateAs, unlessNamed("INSERT INTO plain (name) VALUES ('A')")},
			shows: []string{"SELECT COUNT(*) FROM plain", "SELECT COUNT(*) FROM plain", "INSERT INTO plain (", "INSERT INTO plain ("}},
		{verb: "delete, twice: queue after the COMMIT", setup: []string{one}, calls: calls{deleteThenQueue}, asOnce: true,
			shows: []string{"SELECT COUNT(*) FROM plain", "SELECT COUNT(*) FROM plain", "INSERT INTO plain_job", "INSERT INTO plain_job"}},
		{verb: "delete, stopped: queue after the COMMIT", setup: []string{one}, calls: calls{deleteMineThenQueue}, asOnce: true, stops: true,
			shows: []string{"DELETE FROM plain WHERE", "stops here", "its caller asks again"}},
		{verb: "cancel, the grace period ends: look at the job, then write",
			setup: []string{hidden, "INSERT INTO plain_job (row_id, state) VALUES (1, 'later')"},
			calls: calls{
				ifScheduled("DELETE FROM plain_job WHERE row_id = 1", "UPDATE plain_archive SET hidden = 0"),
				ifScheduled("UPDATE plain_job SET state = 'running'", "DELETE FROM plain_archive"),
			},
			shows: []string{"SELECT COUNT(*) FROM plain_job", "SELECT COUNT(*) FROM plain_job", "COMMIT", "UPDATE plain_archive SET hidden"}},
		{verb: "get, archive: look into one table, then into the other", setup: []string{"INSERT INTO plain_archive VALUES (1, 'A', 0)"},
			calls: calls{find, naiveMove("plain_archive", "plain")},
			shows: []string{"SELECT COUNT(*) FROM plain WHERE", "DELETE FROM plain_archive", "SELECT COUNT(*) FROM plain_archive"}},
	}
}

// TestInterleaveNaiveTwins is the negative control of TestInterleave: each twin is caught, and the schedule
// that is printed shows the race.
func TestInterleaveNaiveTwins(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			dsn := dbtest.DSN(t, dbtest.Isolation(level), dbtest.StaleWrites())
			if err := writes(t.Context(), dbtest.OpenDSN(t, dsn), plainTables...); err != nil {
				t.Fatal(err)
			}
			for _, w := range twins() {
				t.Run(w.verb, func(t *testing.T) { caught(t, w, dsn) })
			}
		})
	}
}

func caught(t *testing.T, w twin, dsn string) {
	t.Helper()
	race := crashtest.Race{AsOnce: w.asOnce, Stops: w.stops, Workflow: crashtest.Workflow{
		Name: "repo, naive: " + w.verb, DSN: dsn, Tables: plainNames, Call: w.calls[0],
		Refs:  map[string]string{"plain_archive.id": "plain.id", "plain_child.parent": "plain.id", "plain_request.row_id": "plain.id"},
		Empty: plainNames,
		Setup: func(ctx context.Context, db *sql.DB) error { return writes(ctx, db, w.setup...) },
	}}
	if len(w.calls) > 1 {
		race.Calls = slices.Clone(w.calls)
	}
	racetest.Caught(t, race, w.shows...)
}
