package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/repo"
)

// openShop makes the tables of projects.
func openShop(ctx context.Context, s *site) (*repo.Of[Project, int64, int64], error) {
	if err := s.exec(ctx, "DROP TABLE IF EXISTS project, project_archive", "DELETE FROM onerow_quota_mark", "DELETE FROM onerow_request"); err != nil {
		return nil, err
	}
	if err := s.exec(ctx, shop.DDL()...); err != nil {
		return nil, err
	}
	return repo.New[Project](shop, "project")
}

// sqlHolder asks who has a name.
const sqlHolder = `SELECT id FROM project WHERE user_id = 1 AND name_key = ?`

// contests has all clients create rows of one name at once, then of the next: one of them makes it, and the
// others are told which row has it.
func contests(ctx context.Context, s *site) ([]way, error) {
	projects, err := openShop(ctx, s)
	if err != nil {
		return nil, err
	}
	mark := statement{text: sqlMark}
	return []way{
		{name: "one INSERT, refused or not", call: func(ctx context.Context, c int, n int64) error {
			return ignored(send(ctx, s.db, inserted(named("a", c, n))))
		}},
		{name: byHand, call: func(ctx context.Context, c int, n int64) error {
			i := named("b", c, n)
			return s.asked(ctx, i, inTx(ctx, s.db, func(tx *sql.Tx) error { return send(ctx, tx, inserted(i), mark) }))
		}},
		{name: "GET_LOCK", call: func(ctx context.Context, c int, n int64) error {
			i := named("c", c, n)
			return s.asked(ctx, i, locked(ctx, s.db, inserted(i), mark))
		}},
		{name: "onerow", aim: aim{of: byHand, share: 1}, call: func(ctx context.Context, c int, n int64) error {
			_, err := projects.Create(ctx, s.db, Project{UserID: 1, Name: named("d", c, n)})
			if errors.Is(err, repo.ErrNameTaken) {
				return nil
			}
			return err
		}},
	}, nil
}

// named is a name that all clients want: their numbers lie so far apart, and what is left says the turn and
// the way.
func named(way string, client int, n int64) string { return fmt.Sprint(way, n-int64(client)*apartBy) }

func inserted(name string) statement { return statement{sqlProject, []any{name, name, name}} }

// asked finds out who has the name, if err is that it is taken.
func (s *site) asked(ctx context.Context, name string, err error) error {
	if err == nil || ignored(err) != nil {
		return err
	}
	var id int64
	return s.db.QueryRowContext(ctx, sqlHolder, name).Scan(&id)
}

// triedContests ask who has the name before they want it, and want it in one packet.
func triedContests(ctx context.Context, s *site) ([]way, error) {
	ways, err := contests(ctx, s)
	if err != nil {
		return nil, err
	}
	mark := statement{text: sqlMark}
	byHandOf := func(ctx context.Context, i string) error {
		return s.asked(ctx, i, inTx(ctx, s.db, func(tx *sql.Tx) error { return send(ctx, tx, inserted(i), mark) }))
	}
	look := func(ctx context.Context, i string) error {
		var id int64
		err := s.db.QueryRowContext(ctx, sqlHolder, i).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			err = byHandOf(ctx, i)
		}
		return err
	}
	return append(ways[:2:2], ways[3],
		way{name: byHand + ", a look first", call: func(ctx context.Context, c int, n int64) error { return look(ctx, named("e", c, n)) }},
		way{name: byHand + ", nobody else wants it", call: func(ctx context.Context, _ int, n int64) error { return byHandOf(ctx, fmt.Sprint("f", n)) }},
		way{name: byHand + ", a look first, nobody else wants it", call: func(ctx context.Context, _ int, n int64) error { return look(ctx, fmt.Sprint("g", n)) }},
	), nil
}

// ignored is err unless it is a duplicate's.
func ignored(err error) error {
	var my *mysql.MySQLError
	if errors.As(err, &my) && my.Number == 1062 {
		return nil
	}
	return err
}

// sqlCopies takes how many copies of a name an owner has.
const sqlCopies = `INSERT INTO project (user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
SELECT 1, IF(k = 0, 'Plan', CONCAT('Plan (Copy ', k, ')')), IF(k = 0, 'plan', CONCAT('plan (copy ', k, ')')), 'plan', k, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM (SELECT a.i * 1000 + b.i AS k FROM n AS a JOIN n AS b) AS numbers WHERE k < %d`

// sqlShelved archives so many rows of that name.
const sqlShelved = `INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, archived_at)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
SELECT 1000000 + i, 1, 'Plan', 'plan', 'plan', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM n`

// activations bring rows back from the archive whose name is taken, by so many copies.
func activations(ctx context.Context, s *site) ([]way, error) {
	projects, err := openShop(ctx, s)
	if err != nil {
		return nil, err
	}
	const each = 300
	beside := func(copies int, activate func(ctx context.Context, id int64) error) func(context.Context) (int, time.Duration, error) {
		return func(ctx context.Context) (int, time.Duration, error) {
			if err := s.exec(ctx, "DELETE FROM project", "DELETE FROM project_archive", fmt.Sprintf(sqlCopies, copies), fmt.Sprintf(sqlShelved, each)); err != nil {
				return 0, 0, err
			}
			begin := time.Now()
			for id := int64(1_000_001); id <= 1_000_000+each; id++ {
				if err := activate(ctx, id); err != nil {
					return 0, 0, err
				}
			}
			return each, time.Since(begin), nil
		}
	}
	onerowActivate := func(ctx context.Context, id int64) error { _, err := projects.Activate(ctx, s.db, id); return err }
	const one = "one INSERT of a new name"
	ways := []way{{name: one, all: beside(10, func(ctx context.Context, id int64) error {
		name := fmt.Sprint("n", id)
		return send(ctx, s.db, statement{sqlProject, []any{name, name, name}})
	})}, {name: byHand + ", a number that is free", all: beside(10, func(ctx context.Context, id int64) error { return s.activateByHand(ctx, id) })}}
	for _, copies := range []int{10, 100, 1000, 10_000} {
		ways = append(ways, way{name: fmt.Sprintf("onerow, beside %d copies", copies), aim: aim{of: one, share: 0.3}, all: beside(copies, onerowActivate)})
	}
	return ways, nil
}

// activateByHand moves a row under a number that is free as long as nobody else takes it.
func (s *site) activateByHand(ctx context.Context, id int64) error {
	return inTx(ctx, s.db, func(tx *sql.Tx) error {
		var last int64
		if err := tx.QueryRowContext(ctx, "SELECT MAX(copy_no) FROM project WHERE user_id = 1 AND stem_key = 'plan'").Scan(&last); err != nil {
			return err
		}
		return send(ctx, tx, statement{`INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
SELECT id, user_id, ?, ?, stem_key, ?, created_at, UTC_TIMESTAMP(6) FROM project_archive WHERE id = ?`,
			[]any{fmt.Sprintf("Plan (Copy %d)", last+1), fmt.Sprintf("plan (copy %d)", last+1), last + 1, id}},
			statement{"DELETE FROM project_archive WHERE id = ?", []any{id}}, statement{text: sqlMark})
	})
}
