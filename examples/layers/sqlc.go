package main

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/layers/notes"
)

// Package notes is what sqlc generates from notes/query.sql. Its DBTX takes onerow's transaction as it is.
type sqlcLayer struct{ db *sql.DB }

func (sqlcLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	return notes.New(tx).AddNote(ctx, notes.AddNoteParams{ProjectID: projectID, Text: text})
}

func (sqlcLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) ([]string, error) {
	return notes.New(tx).ListTexts(ctx, projectID)
}

// Transactions of sqlc's are those of database/sql: notes.New(db).WithTx(tx).
func (l sqlcLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	return inSQLTx(ctx, l.db, fn)
}
