package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

var shop = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "is_over_quota"},
}}}

// Project is a row of it.
type Project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

const (
	sqlProject = `INSERT INTO project (user_id, name, name_key, stem_key, copy_no, created_at, updated_at) VALUES (1, ?, ?, ?, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`
	sqlMark    = `INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES ('project', '1', UTC_TIMESTAMP(6))`
)

// creates has all clients create rows of one owner, and mark that the owner's quota has to be looked at.
func creates(clients int) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		projects, err := openShop(ctx, s)
		if err != nil {
			return nil, err
		}
		name := func(way string, n int64) string { return fmt.Sprint(way, n) }
		insert := func(way string, n int64) statement {
			return statement{sqlProject, []any{name(way, n), name(way, n), name(way, n)}}
		}
		mark := statement{text: sqlMark}
		return []way{
			{name: "one INSERT", call: func(ctx context.Context, _ int, n int64) error { return send(ctx, s.db, insert("a", n)) }},
			{name: byHand, call: func(ctx context.Context, _ int, n int64) error {
				return inTx(ctx, s.db, func(tx *sql.Tx) error { return send(ctx, tx, insert("b", n), mark) })
			}},
			{name: onePacket, call: func(ctx context.Context, _ int, n int64) error {
				i := insert("c", n)
				return send(ctx, s.packet, statement{"START TRANSACTION; " + i.text + "; " + sqlMark + "; COMMIT", i.args})
			}},
			{name: "GET_LOCK", call: func(ctx context.Context, _ int, n int64) error { return locked(ctx, s.db, insert("d", n), mark) }},
			{name: "onerow", aim: aim{of: onePacket, share: 0.9}, call: func(ctx context.Context, _ int, n int64) error {
				_, err := projects.Create(ctx, s.db, Project{UserID: 1, Name: name("e", n)})
				return err
			}},
			{name: "onerow, with a request id", aim: aim{of: onePacket, share: 0.7}, call: func(ctx context.Context, _ int, n int64) error {
				_, err := projects.Create(ctx, s.db, Project{UserID: 1, Name: name("f", n)}, repo.RequestID(fmt.Sprint(n)))
				return err
			}},
		}, nil
	}
}

// locked sends statements under a lock of the owner's, which is another session's business to wait for.
func locked(ctx context.Context, db *sql.DB, statements ...statement) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var got int
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK('project/1', 30)").Scan(&got); err != nil || got != 1 {
		return fmt.Errorf("GET_LOCK: %d, %w", got, err)
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err == nil {
		if err = send(ctx, tx, statements...); err == nil {
			err = tx.Commit()
		} else {
			err = errors.Join(err, tx.Rollback())
		}
	}
	_, rerr := conn.ExecContext(ctx, "DO RELEASE_LOCK('project/1')")
	return errors.Join(err, rerr)
}
