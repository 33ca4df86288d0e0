package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/onerow/onerow"
)

type sqlxLayer struct{ db *sqlx.DB }

func openSqlx(db *sql.DB) sqlxLayer { return sqlxLayer{sqlx.NewDb(db, "mysql")} }

// in is sqlx in a transaction of onerow's.
func (l sqlxLayer) in(tx *onerow.Tx) *sqlx.Tx { return &sqlx.Tx{Tx: tx.SQL(), Mapper: l.db.Mapper} }

type sqlxNote struct {
	ProjectID int64  `db:"project_id"`
	Text      string `db:"text"`
}

func (l sqlxLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	_, err := l.in(tx).NamedExecContext(ctx, "INSERT INTO note (project_id, text) VALUES (:project_id, :text)", sqlxNote{projectID, text})
	return err
}

func (l sqlxLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) (texts []string, err error) {
	err = l.in(tx).SelectContext(ctx, &texts, "SELECT text FROM note WHERE project_id = ? ORDER BY id", projectID)
	return texts, err
}

func (l sqlxLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	tx, err := l.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
