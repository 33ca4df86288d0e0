package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// lines are rows without a name: nothing but the request id makes two of them one.
var lines = schema.Plan{Resources: []schema.Resource{{Name: "line", Owner: "user_id"}}}

type line struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

// answersLost makes rows and effects behind a proxy that loses the answer to each second COMMIT, and calls
// again until there is an answer.
func answersLost(ctx context.Context, s *scene) (err error) {
	if err := s.plant(ctx, lines, "CREATE TABLE paid (id BIGINT AUTO_INCREMENT PRIMARY KEY)", "CREATE TABLE plain (id BIGINT AUTO_INCREMENT PRIMARY KEY)"); err != nil {
		return err
	}
	proxy, err := newDeaf(s.server.Config("").Addr, "COMMIT", "INSERT INTO plain VALUES ()")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proxy.close()) }()
	const n = 20
	byHand, err := s.plainly(ctx, proxy.addr(), n)
	if err != nil {
		return fmt.Errorf("by hand: %w", err)
	}
	before := proxy.lost.Load()
	db, err := s.poolAt(proxy.addr(), "")
	if err != nil {
		return err
	}
	defer fuzz.Close(db)
	if err := answersOnce(ctx, db, n); err != nil {
		return err
	}
	lost := proxy.lost.Load() - before
	s.note = fmt.Sprintf("by hand: %d rows for %d; here %d answers were lost", byHand, n, lost)
	return first(unless(lost >= n && byHand > n, "%s: that shows nothing", s.note), s.want(ctx, n, "SELECT COUNT(*) FROM line"), s.want(ctx, n, "SELECT COUNT(*) FROM paid"))
}

// plainly inserts n rows with the plain driver, each until there is no error, and returns how many there are.
func (s *scene) plainly(ctx context.Context, addr string, n int) (rows int, err error) {
	cfg := s.server.Config(s.database)
	cfg.Net, cfg.Addr = "tcp", addr
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer fuzz.Close(db)
	for range n {
		if err := untilAnswered(ctx, func() error {
			_, err := db.ExecContext(ctx, "INSERT INTO plain VALUES ()")
			return err
		}); err != nil {
			return 0, err
		}
	}
	err = s.plain.QueryRowContext(ctx, "SELECT COUNT(*) FROM plain").Scan(&rows)
	return rows, err
}

// answersOnce makes n rows and n effects.
func answersOnce(ctx context.Context, db *sql.DB, n int) error {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	rows, err := repo.New[line](lines, "line")
	for i := 0; err == nil && i < n; i++ {
		id := fmt.Sprint("request ", i)
		err = untilAnswered(ctx, func() error {
			_, err := rows.Create(ctx, db, line{UserID: 7}, repo.RequestID(id))
			return err
		})
		if err != nil {
			break
		}
		err = untilAnswered(ctx, func() error {
			_, err := idempotency.Do(ctx, db, keys, idempotency.Key{Operation: "pay", ID: id}, func(ctx context.Context, tx *onerow.Tx) (int, error) {
				_, err := tx.ExecContext(ctx, "INSERT INTO paid VALUES ()")
				return i, err
			})
			return err
		})
	}
	return err
}

// untilAnswered calls until there is no error, at most fifty times.
func untilAnswered(ctx context.Context, call func() error) (err error) {
	for range 50 {
		if err = call(); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("fifty calls: %w", err)
}

// halfMigrated ends migrations in their midst, and goes on from what is left: also where all was made, and
// the version was not noted.
func halfMigrated(ctx context.Context, s *scene) error {
	cut := 0
	for patience := time.Millisecond; ; patience += patience/4 + time.Millisecond {
		some, cancel := context.WithTimeout(ctx, patience)
		err := migrations.Up(some, s.db)
		cancel()
		if err == nil {
			break
		}
		if cut++; ctx.Err() != nil || cut > 60 {
			return fmt.Errorf("cut off %d times: %w", cut, err)
		}
	}
	s.note = fmt.Sprintf("cut off %d times", cut)
	status, err := migrations.Status(ctx, s.db)
	if err != nil {
		return err
	}
	for _, m := range status {
		if !m.Applied {
			return fmt.Errorf("%s is not applied", m.Name)
		}
	}
	_, err = s.plain.ExecContext(ctx, "DELETE FROM "+migrations.TableName+" WHERE version_id = ?", status[len(status)-1].Version) //nolint:gosec // its own table
	return first(err, unless(cut >= 3, "cut off only %d times", cut), migrations.Up(ctx, s.db), s.exec(ctx, lines.DDL()...), live.Verify(ctx, s.db, lines),
		s.want(ctx, 1, "SELECT COUNT(*) FROM "+migrations.TableName+" WHERE version_id = ?", status[len(status)-1].Version))
}

// swallowed drops the error of a deadlock in the midst of a transaction and goes on writing.
func swallowed(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, schema.Plan{}, "CREATE TABLE row_lock (id INT PRIMARY KEY, n INT NOT NULL)", "INSERT INTO row_lock VALUES (1, 0), (2, 0)",
		"CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20))"); err != nil {
		return err
	}
	// A transaction of the library: what is sent after the deadlock is refused, whatever its caller returns.
	runs := 0
	var after error
	err := onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
		if runs++; runs > 1 {
			return writes(ctx, tx, "before", "after")
		}
		if err := s.deadlock(ctx, tx, func(update func() error) error { return tx.Savepoint(ctx, "part", update) }); err != nil {
			return err
		}
		_, after = tx.ExecContext(ctx, "INSERT INTO log (what) VALUES ('after')")
		return nil
	})
	if after == nil || err == nil && runs == 1 {
		return fmt.Errorf("it goes on after a deadlock: %w, %d runs, then %w", after, runs, err)
	}
	const half = "SELECT COUNT(*) FROM log WHERE what = 'after'"
	var whole int64
	if err := s.plain.QueryRowContext(ctx, "SELECT COUNT(*) FROM log WHERE what = 'before'").Scan(&whole); err != nil {
		return err
	}
	if err := s.want(ctx, whole, half); err != nil {
		return err
	}
	// A transaction of the caller's own query layer on the same pool.
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = s.deadlock(ctx, tx, func(update func() error) error { return update() })
	_, after = tx.ExecContext(ctx, "INSERT INTO log (what) VALUES ('after')")
	commit := tx.Commit()
	return first(err, unless(after != nil && commit != nil, "a *sql.Tx goes on after a deadlock: %v, COMMIT: %v", after, commit), s.want(ctx, whole, half))
}

func writes(ctx context.Context, db onerow.DB, texts ...string) error {
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, "INSERT INTO log (what) VALUES (?)", text); err != nil {
			return err
		}
	}
	return nil
}

// deadlock writes "before" and runs an update that is refused by a deadlock, whose error is dropped; its own
// errors are about the scene.
func (s *scene) deadlock(ctx context.Context, tx onerow.DB, run func(update func() error) error) error {
	other, err := s.plain.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer other.Rollback()                                                        //nolint:errcheck // it is over
	_, err = other.ExecContext(ctx, "UPDATE row_lock SET n = n + 1 WHERE id = 2") // and much more, so that it is not the victim
	for i := 10; err == nil && i < 60; i++ {
		_, err = other.ExecContext(ctx, "INSERT INTO row_lock VALUES (?, 0)", i)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE row_lock SET n = n + 1 WHERE id = 1")
	}
	if err := first(err, writes(ctx, tx, "before")); err != nil {
		return err
	}
	waits := make(chan error, 1)
	go func() {
		_, err := other.ExecContext(ctx, "UPDATE row_lock SET n = n + 1 WHERE id = 1")
		waits <- err
	}()
	time.Sleep(300 * time.Millisecond)
	dropped := run(func() error {
		_, err := tx.ExecContext(ctx, "UPDATE row_lock SET n = n + 1 WHERE id = 2")
		return err
	})
	if number(dropped) != 1213 {
		return fmt.Errorf("no deadlock: %w, %w", dropped, <-waits)
	}
	return <-waits
}
