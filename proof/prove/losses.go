package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// lossChecks are about transactions that the server ends, in a part or whole.
var lossChecks = []check{
	{
		name: "lock-wait", promise: promisePoison, with: plain,
		fix:  "set innodb_rollback_on_timeout = OFF, which is its default, or use onerow.InTx, which sends nothing more after error 1205",
		what: "a transaction goes on after a lock wait timeout, and is rolled back as a whole", run: lockWait,
	},
	{
		name: "lock-wait-opened", promise: promisePoison, with: opened, fix: "tell the authors of onerow",
		what: "onerow.InTx meets a lock wait timeout, whose error the function drops", run: lockWaitOpened,
	},
	{
		name: "deadlock", promise: promiseAll, with: plain,
		fix:  "set innodb_deadlock_detect = ON",
		what: "of two transactions in a deadlock one is rolled back whole, with 1213", run: deadlock,
	},
	{
		name: "deadlock-opened", promise: promiseAll, with: opened, fix: "tell the authors of onerow",
		what: "eight callers move amounts between two accounts in both directions by onerow.InTx", run: transfers,
	},
}

const shortWait = `SET SESSION innodb_lock_wait_timeout = 1`

// hold is a transaction that keeps the row of account 1.
func (s *site) hold(ctx context.Context) (end func(), err error) {
	if err := s.run(ctx, `REPLACE INTO prove_account VALUES (1, 0), (2, 0)`, `DELETE FROM prove_log`); err != nil {
		return nil, err
	}
	conn, end, err := begin(ctx, s.work)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, `UPDATE prove_account SET amount = 5 WHERE id = 1`); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

const (
	sqlLog   = `INSERT INTO prove_log (what) VALUES (?)`
	sqlTouch = `UPDATE prove_account SET amount = amount + 1 WHERE id = 1`
)

// lockWait writes, waits in vain, writes again and rolls back. Where the server has ended the transaction at
// the wait, the second write is one of its own, and stays.
func lockWait(ctx context.Context, s *site) (string, error) {
	release, err := s.hold(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	conn, end, err := begin(ctx, s.plain, shortWait)
	if err != nil {
		return "", err
	}
	defer end()
	if _, err := conn.ExecContext(ctx, sqlLog, "before"); err != nil {
		return "", err
	}
	if _, err := conn.ExecContext(ctx, sqlTouch); mysqlerr.Classify(err) != mysqlerr.TimedOut {
		return "", fmt.Errorf("a row that another transaction has locked is written, or the wait ends otherwise: %w", orNil(err))
	}
	var kept int
	if err := conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = 'before'`).Scan(&kept); err != nil {
		return "", err
	}
	for _, statement := range []string{`INSERT INTO prove_log (what) VALUES ('after')`, `ROLLBACK`} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return "", err
		}
	}
	after, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = 'after'`)
	switch {
	case err != nil:
		return "", err
	case after > 0:
		return "", errors.New("a lock wait timeout rolls back the whole transaction (innodb_rollback_on_timeout): what follows runs in autocommit, and stays after ROLLBACK")
	case kept == 0:
		return "", errors.New("a lock wait timeout rolls back what the transaction had written (innodb_rollback_on_timeout): a COMMIT would commit its second half alone")
	}
	return "only the statement is undone", nil
}

// orNil is an error to print where there is none.
func orNil(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// lockWaitOpened: of a run that met the timeout nothing stays, whatever the function does afterwards.
func lockWaitOpened(ctx context.Context, s *site) (_ string, err error) {
	db, err := s.openWith(map[string]string{"innodb_lock_wait_timeout": "1"})
	if err != nil {
		return "", refusal(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	release, err := s.hold(ctx)
	if err != nil {
		return "", err
	}
	runs, dropped := 0, 0
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		runs++
		if _, err := tx.ExecContext(ctx, sqlLog, fmt.Sprint("before ", runs)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, sqlTouch); err != nil {
			dropped++ // and the error is dropped, as in code that logs it and goes on
			release()
		}
		_, _ = tx.ExecContext(ctx, sqlLog, fmt.Sprint("after ", runs)) //nolint:errcheck // likewise
		return nil
	})
	release()
	if err != nil {
		return "", err
	}
	all, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log`)
	if err != nil {
		return "", err
	}
	last, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what IN (?, ?)`, fmt.Sprint("before ", runs), fmt.Sprint("after ", runs))
	switch {
	case err != nil:
		return "", err
	case dropped == 0:
		return "", errors.New("a row that another transaction has locked was written")
	case all != 2 || last != 2:
		return "", fmt.Errorf("after %d runs %d rows are there, %d of the last run; 2 and 2 are right", runs, all, last)
	}
	return fmt.Sprintf("nothing of %d lost runs stays", dropped), nil
}

// deadlock has two transactions wait for each other. The victim then says COMMIT.
func deadlock(ctx context.Context, s *site) (string, error) {
	if err := s.run(ctx, `REPLACE INTO prove_account VALUES (1, 0), (2, 0)`, `DELETE FROM prove_log`); err != nil {
		return "", err
	}
	var conns [2]*sql.Conn
	for i := range conns {
		conn, end, err := begin(ctx, s.plain, `SET SESSION innodb_lock_wait_timeout = 3`)
		if err != nil {
			return "", err
		}
		defer end()
		conns[i] = conn
		if _, err := conn.ExecContext(ctx, sqlLog, fmt.Sprint(i)); err != nil {
			return "", err
		}
		if _, err := conn.ExecContext(ctx, `UPDATE prove_account SET amount = amount + 1 WHERE id = ?`, i+1); err != nil {
			return "", err
		}
	}
	answers := together(2, func(i int) error {
		_, err := conns[i].ExecContext(ctx, `UPDATE prove_account SET amount = amount + 1 WHERE id = ?`, 2-i)
		_, cerr := conns[i].ExecContext(ctx, `COMMIT`)
		return errors.Join(err, cerr)
	})
	victims := 0
	for i, err := range answers {
		n, cerr := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, fmt.Sprint(i))
		switch {
		case cerr != nil:
			return "", cerr
		case err == nil && n != 1:
			return "", errors.New("a transaction that was committed is not there")
		case err == nil:
		case mysqlerr.Number(err) != 1213:
			return "", fmt.Errorf("the server does not find a deadlock: %w", err)
		case n != 0:
			return "", errors.New("the victim of a deadlock has kept a part of what it wrote")
		default:
			victims++
		}
	}
	if victims != 1 {
		return "", fmt.Errorf("%d of two transactions in a deadlock were rolled back", victims)
	}
	return "the victim is rolled back whole", nil
}

// transfers logs each, and holds the sum and the log against what callers were told.
func transfers(ctx context.Context, s *site) (string, error) {
	if err := s.run(ctx, `REPLACE INTO prove_account VALUES (1, 0), (2, 0)`, `DELETE FROM prove_log`); err != nil {
		return "", err
	}
	const callers = 8
	var told [callers]int
	err := errors.Join(together(callers, func(i int) error {
		from, to := 1+i%2, 2-i%2
		_, err := s.repeat(func(int) error {
			err := onerow.InTx(ctx, s.opened, func(ctx context.Context, tx *onerow.Tx) error {
				if _, err := tx.ExecContext(ctx, sqlLog, fmt.Sprint(i)); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, `UPDATE prove_account SET amount = amount - 1 WHERE id = ?`, from); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, `UPDATE prove_account SET amount = amount + 1 WHERE id = ?`, to)
				return err
			})
			switch {
			case err == nil:
				told[i]++
			case onerow.Retryable(err): // the caller knows that nothing was done
				return nil
			}
			return err
		})
		return err
	})...)
	if err != nil {
		return "", err
	}
	sum, err := s.count(ctx, `SELECT SUM(amount) FROM prove_account WHERE id IN (1, 2)`)
	if err != nil {
		return "", err
	}
	total := 0
	for i, n := range told {
		logged, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, fmt.Sprint(i))
		if err != nil {
			return "", err
		}
		if logged != n || sum != 0 {
			return "", fmt.Errorf("a caller was told of %d commits, %d are there, and the accounts have %d together", n, logged, sum)
		}
		total += n
	}
	return fmt.Sprintf("%d transfers, each once", total), nil
}
