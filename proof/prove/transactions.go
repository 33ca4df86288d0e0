package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
)

var transactionChecks = []check{
	{
		name: "autocommit", promise: promiseSession, with: plain, fix: usePool,
		what: "a write outside of a transaction is there when its session is closed",
		run:  func(ctx context.Context, s *site) (string, error) { return autocommit(ctx, s, s.plain, "plain") },
	},
	{
		name: "autocommit-opened", promise: promiseSession, with: opened, fix: "tell the authors of onerow",
		what: "the same",
		run:  func(ctx context.Context, s *site) (string, error) { return autocommit(ctx, s, s.opened, "opened") },
	},
	{
		name: "dirty-reads", promise: promiseAll, with: plain, fix: usePool,
		what: "a row that is not committed is not seen by another session",
		run:  func(ctx context.Context, s *site) (string, error) { return dirtyReads(ctx, s.plain, 98) },
	},
	{
		name: "dirty-reads-opened", promise: promiseAll, with: opened, fix: "tell the authors of onerow",
		what: "the same",
		run:  func(ctx context.Context, s *site) (string, error) { return dirtyReads(ctx, s.opened, 99) },
	},
	{
		name: "rollback", promise: promiseAll, with: plain,
		fix:  "make the tables with ENGINE=InnoDB: look at enforce_storage_engine and at what the server says of the engine",
		what: "what a transaction wrote is gone after ROLLBACK, and after its session is gone", run: rollback,
	},
	{
		name: "updates-count", promise: promiseUpdates, with: opened, fix: "tell the authors of onerow",
		what: "four callers add to one row by repo.Update, at READ COMMITTED and at REPEATABLE READ", run: updatesCount,
	},
}

// autocommit writes in a session of the pool's and closes it, as a program does that ends.
func autocommit(ctx context.Context, s *site, db *sql.DB, what string) (string, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	_, err = conn.ExecContext(ctx, `INSERT INTO prove_log (what) VALUES (?)`, what)
	discard(conn)
	if err != nil {
		return "", err
	}
	n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, what)
	if err == nil && n != 1 {
		err = &fall{"a write that the server has acknowledged is lost with its session, as where autocommit is off", "set autocommit = 1 on the server and in the DSN; pool.Open does so itself"}
	}
	return "it is there", err
}

// dirtyReads looks from a second session at a row that is never committed.
func dirtyReads(ctx context.Context, db *sql.DB, id int) (_ string, err error) {
	writer, end, err := begin(ctx, db)
	if err != nil {
		return "", err
	}
	defer end()
	if _, err := writer.ExecContext(ctx, `INSERT INTO prove_account VALUES (?, 1)`, id); err != nil {
		return "", err
	}
	var n int
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM prove_account WHERE id = ?`, id).Scan(&n); err != nil {
		return "", err
	}
	if n != 0 {
		return "", &fall{"sessions read what is not committed (READ UNCOMMITTED)", "set the isolation level READ-COMMITTED or REPEATABLE-READ on the server or in the DSN; pool.Open sets READ-COMMITTED"}
	}
	return "it is not seen", nil
}

// rollback ends one transaction by ROLLBACK and another one with its session.
func rollback(ctx context.Context, s *site) (string, error) {
	for _, how := range []string{"rolled back", "abandoned"} {
		conn, end, err := begin(ctx, s.plain)
		if err != nil {
			return "", err
		}
		_, err = conn.ExecContext(ctx, `INSERT INTO prove_log (what) VALUES (?)`, how)
		if err == nil && how == "rolled back" {
			_, err = conn.ExecContext(ctx, `ROLLBACK`)
		}
		end()
		if err != nil {
			return "", err
		}
		n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, how)
		if err != nil {
			return "", err
		}
		if n != 0 {
			return "", fmt.Errorf("a row stays whose transaction was %s", how)
		}
	}
	return "nothing stays", nil
}

// updatesCount also tells what the server does with a write that was decided on an old snapshot.
func updatesCount(ctx context.Context, s *site) (seen string, err error) {
	k, err := newKit()
	if err != nil {
		return "", err
	}
	const callers = 4
	total := 0
	for _, level := range []string{"READ-COMMITTED", "REPEATABLE-READ"} {
		db, err := s.openWith(map[string]string{s.isolationVariable(): "'" + level + "'"})
		if err != nil {
			return "", refusal(err)
		}
		row, err := k.projects.Create(ctx, db, project{UserID: owner, Name: "counted at " + level})
		var done [callers]int
		if err == nil {
			err = errors.Join(together(callers, func(i int) (err error) {
				done[i], err = s.repeat(func(int) error {
					_, err := k.projects.Update(ctx, db, row.Row.ID, func(p *project) error { p.Amount++; return nil })
					return err
				})
				return err
			})...)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return "", err
		}
		n, err := s.count(ctx, `SELECT amount FROM project WHERE id = ?`, row.Row.ID)
		if err != nil {
			return "", err
		}
		if want := done[0] + done[1] + done[2] + done[3]; n != want {
			return "", fmt.Errorf("at %s %d updates were answered, and the row has counted %d", level, want, n)
		}
		total += n
	}
	return fmt.Sprintf("all %d count", total), s.staleWrite(ctx)
}

// staleWrite reads, lets another one write, and writes what was read and one, at REPEATABLE READ.
func (s *site) staleWrite(ctx context.Context) error {
	if err := s.run(ctx, `REPLACE INTO prove_account VALUES (1, 0)`); err != nil {
		return err
	}
	conn, end, err := begin(ctx, s.plain, `SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ`)
	if err != nil {
		return err
	}
	defer end()
	var amount int
	if err := conn.QueryRowContext(ctx, `SELECT amount FROM prove_account WHERE id = 1`).Scan(&amount); err != nil {
		return err
	}
	if err := s.run(ctx, `UPDATE prove_account SET amount = amount + 1 WHERE id = 1`); err != nil {
		return err
	}
	const erRecordChanged = 1020
	_, err = conn.ExecContext(ctx, `UPDATE prove_account SET amount = ? WHERE id = 1`, amount+1)
	switch {
	case err == nil:
		s.note("a write from an old snapshot", "is let through at REPEATABLE READ: one of two updates is lost",
			"code that reads, computes and writes needs SELECT … FOR UPDATE or a version, as repo.Update has; on MariaDB innodb_snapshot_isolation = ON refuses it")
	case mysqlerr.Number(err) == erRecordChanged:
		s.note("a write from an old snapshot", "is refused at REPEATABLE READ (1020), and the transaction is rolled back",
			"code without the toolkit must run its transaction again; onerow.InTx does")
	default:
		return err
	}
	return nil
}
