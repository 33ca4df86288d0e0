package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/Masterminds/squirrel"

	"github.com/onerow/onerow"
)

type squirrelLayer struct{ db *sql.DB }

// in is squirrel in a transaction of onerow's.
func (squirrelLayer) in(tx *onerow.Tx) squirrel.StatementBuilderType {
	return squirrel.StatementBuilder.RunWith(tx.SQL())
}

func (l squirrelLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	_, err := l.in(tx).Insert("note").Columns("project_id", "text").Values(projectID, text).ExecContext(ctx)
	return err
}

func (l squirrelLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) (texts []string, err error) {
	rows, err := l.in(tx).Select("text").From("note").Where(squirrel.Eq{"project_id": projectID}).OrderBy("id").QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close(), rows.Err()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// Squirrel has no transactions of its own: those of database/sql.
func (l squirrelLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	return inSQLTx(ctx, l.db, fn)
}
