package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

// filled has as many other owners, with a file, room and a reservation each, as many archived files of user 1,
// and as many requests of his.
func filled(t *testing.T, s shop, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	for _, stmt := range []string{
		"INSERT INTO user (id, files, bytes, notes) " + cost.Numbers(rows) + "SELECT 1000 + i, 5, 1000, 5 FROM numbers",
		"INSERT INTO file (user_id, name, name_key, stem_key, bytes, created_at, updated_at) " + cost.Numbers(rows) +
			"SELECT 1000 + i, 'a', 'a', 'a', 10, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers",
		"INSERT INTO file_archive (id, user_id, name, name_key, stem_key, bytes, created_at, updated_at, archived_at) " + cost.Numbers(rows) +
			"SELECT 10000000 + i, 1, 'z', 'z', 'z', 10, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers",
		"INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) " + cost.Numbers(rows) +
			"SELECT 'file', 1000 + i, 0, 4, 5, 1, UTC_TIMESTAMP(6) FROM numbers",
		"INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) " + cost.Numbers(rows) +
			"SELECT 'file.bytes', 1000 + i, 0, 980, 1000, 1, UTC_TIMESTAMP(6) FROM numbers",
		"INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at) " + cost.Numbers(rows) +
			"SELECT 'file.bytes', 1000 + i, 'k', 10, UTC_TIMESTAMP(6) + INTERVAL 1 DAY FROM numbers",
	} {
		dbtest.Exec(t, db, stmt)
	}
	s.allow(t, db, 1, 3, 100)
	s.allow(t, db, 2, nil, nil)
	dbtest.Exec(t, db, "ANALYZE TABLE user, file, file_archive, onerow_limit, onerow_reservation")
	return dsn
}

// TestCosts: nothing is read or locked of other owners, nor of what the owner has archived.
func TestCosts(t *testing.T) {
	s := newShop(t)
	for _, level := range levels {
		c := cost.Compare(t, filled(t, s, cost.Few, level), filled(t, s, cost.Many(t), level), 140)
		create := func(user int64, name string, opts ...repo.CreateOption) call {
			return func(ctx context.Context, db *sql.DB) error {
				return second(s.files.Create(ctx, db, File{UserID: user, Name: name, Bytes: 10}, opts...))
			}
		}
		id := func(ctx context.Context, db *sql.DB, name string) (id int64) {
			err := onerow.QueryRow(ctx, db, "SELECT id FROM file WHERE user_id = 1 AND name_key = ?", []any{[]byte(name)}, &id)
			if errors.Is(err, sql.ErrNoRows) { // the one that was archived here has the lowest id
				err = onerow.QueryRow(ctx, db, "SELECT id FROM file_archive WHERE user_id = 1 AND deletion_id IS NULL ORDER BY id LIMIT 1", nil, &id)
			}
			return must(id, err)
		}
		full := func(c call) call {
			return func(ctx context.Context, db *sql.DB) error {
				if err := c(ctx, db); !errors.Is(err, limit.ErrLimit) {
					return fmt.Errorf("%w, not full", err)
				}
				return nil
			}
		}
		joined := func(fn func(ctx context.Context, tx *onerow.Tx) error) call {
			return func(ctx context.Context, db *sql.DB) error { return onerow.InTx(ctx, db, fn) }
		}
		c.Call("first create", create(1, "a"))
		c.Call("create", create(1, "b"))
		c.Call("last create", create(1, "c"))
		c.Call("refused", full(create(1, "d")))
		c.Call("archive", func(ctx context.Context, db *sql.DB) error { return second(s.files.Archive(ctx, db, id(ctx, db, "c"))) })
		c.Call("activate", func(ctx context.Context, db *sql.DB) error {
			return second(s.files.Activate(ctx, db, id(ctx, db, "c")))
		})
		c.Call("hide", func(ctx context.Context, db *sql.DB) error {
			return second(s.files.Delete(ctx, db, id(ctx, db, "c"), repo.Grace(time.Hour)))
		})
		c.Call("refused, joined", joined(func(ctx context.Context, tx *onerow.Tx) error {
			_, err := s.create(ctx, tx, 1, "e", 1)
			if !errors.Is(err, limit.ErrLimit) {
				return fmt.Errorf("%w, not full", err)
			}
			return nil
		}))
		c.Call("a new maximum", joined(func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE user SET files = 10 WHERE id = 1")
			return errors.Join(err, s.number.Changed(ctx, tx, 1))
		}))
		c.Call("first create of a user without limits", create(2, "a"))
		c.Call("create in one of many rows", create(2, "b"))
		c.Call("dealt in one row", joined(func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE user SET files = 10 WHERE id = 2")
			return errors.Join(err, s.number.Changed(ctx, tx, 2))
		}))
		c.Call("reserve", func(ctx context.Context, db *sql.DB) error {
			return second(s.bytes.Reserve(ctx, db, "k", 10, time.Hour, 1))
		})
		c.Call("reserve again", func(ctx context.Context, db *sql.DB) error {
			return second(s.bytes.Reserve(ctx, db, "k", 10, time.Hour, 1))
		})
		c.Call("use", create(1, "f", repo.UseReservation(s.bytes, "k")))
		c.Call("reserve, more", func(ctx context.Context, db *sql.DB) error {
			return second(s.bytes.Reserve(ctx, db, "l", 20, time.Hour, 1))
		})
		c.Call("use another amount", create(1, "g", repo.UseReservation(s.bytes, "l")))
		c.Call("reserve, shortly", func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(s.bytes.Reserve(ctx, db, "m", 1, time.Hour, 1)), second(s.bytes.Reserve(ctx, db, "n", 1, time.Microsecond, 1)),
				second(s.bytes.Reserve(ctx, db, "o", 40, time.Microsecond, 1)))
		})
		c.Call("cancel", func(ctx context.Context, db *sql.DB) error { return s.bytes.Cancel(ctx, db, "m", 1) })
		c.Call("cancel, joined", joined(func(ctx context.Context, tx *onerow.Tx) error { return s.bytes.Cancel(ctx, tx, "n", 1) }))
		c.Call("needed by another", func(ctx context.Context, db *sql.DB) error {
			return second(s.bytes.Reserve(ctx, db, "p", 50, time.Microsecond, 1))
		})
		c.Call("note", func(ctx context.Context, db *sql.DB) error { return recount.Limit(ctx, db, "file", "1") })
		c.Call("list", func(ctx context.Context, db *sql.DB) error {
			return second(limit.List(ctx, db, limit.Line{Name: "file", Owner: "1005"}, 20))
		})
		c.Call("look", func(ctx context.Context, db *sql.DB) error { return second(s.number.Look(ctx, db, 1)) })
		sweepers := map[*sql.DB]*limit.Sweeper{}
		c.Call("sweep", func(ctx context.Context, db *sql.DB) error {
			sweepers[db] = limit.NewSweeper(db, limit.Config{Batch: 5, Every: time.Microsecond}, s.number, s.bytes)
			res, err := sweepers[db].RunOnce(ctx)
			if err == nil && (res.Expired != 1 || res.Counted != 11) {
				err = fmt.Errorf("%+v", res)
			}
			return err
		})
		c.Call("sweep an owner who is gone", func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "DELETE FROM file WHERE user_id = 2")
			if err == nil {
				_, err = db.ExecContext(ctx, "DELETE FROM user WHERE id = 2")
			}
			return errors.Join(err, s.number.Recount(ctx, db, 2))
		})
		c.Call("archive before a count", func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "DELETE FROM onerow_limit WHERE name IN ('file', 'file.bytes') AND owner = '1'")
			return errors.Join(err, second(s.files.Archive(ctx, db, id(ctx, db, "a"))))
		})
		c.Call("first create, joined", joined(func(ctx context.Context, tx *onerow.Tx) error {
			return second(s.create(ctx, tx, 1, "h", 1))
		}))
		c.Source(".", nil)
	}
}
