package main

import (
	"context"
	"database/sql"
	"errors"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/onerow/onerow"
)

type entLayer struct{ db *sql.DB }

// in is a driver for ent in a transaction of onerow's: client := ent.NewClient(ent.Driver(in(tx))). Its Tx is
// no transaction of its own.
func (entLayer) in(tx *onerow.Tx) *entsql.Driver {
	return entsql.NewDriver(dialect.MySQL, entsql.Conn{ExecQuerier: tx})
}

// What follows uses ent's query builder, as the code that ent generates does.

func (l entLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	query, args := entsql.Dialect(dialect.MySQL).Insert("note").Columns("project_id", "text").Values(projectID, text).Query()
	return l.in(tx).Exec(ctx, query, args, nil)
}

func (l entLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) (texts []string, err error) {
	query, args := entsql.Dialect(dialect.MySQL).Select("text").From(entsql.Table("note")).
		Where(entsql.EQ("project_id", projectID)).OrderBy("id").Query()
	var rows entsql.Rows
	if err := l.in(tx).Query(ctx, query, args, &rows); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return texts, entsql.ScanSlice(rows, &texts)
}

func (l entLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	tx, err := entsql.OpenDB(dialect.MySQL, l.db).BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx.(*entsql.Tx).ExecQuerier); err != nil { //nolint:errcheck // ent's own driver makes no other
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
