package main

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"

	"github.com/onerow/onerow"
)

type bunLayer struct{ db *bun.DB }

func openBun(db *sql.DB) bunLayer { return bunLayer{bun.NewDB(db, mysqldialect.New())} }

type bunNote struct {
	bun.BaseModel `bun:"table:note"`

	ID        int64 `bun:",pk,autoincrement"`
	ProjectID int64
	Text      string
}

// Every query of bun's takes the transaction: Conn(tx).

func (l bunLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	_, err := l.db.NewInsert().Conn(tx).Model(&bunNote{ProjectID: projectID, Text: text}).Exec(ctx)
	return err
}

func (l bunLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) (texts []string, err error) {
	err = l.db.NewSelect().Conn(tx).Model((*bunNote)(nil)).Column("text").Where("project_id = ?", projectID).Order("id").Scan(ctx, &texts)
	return texts, err
}

func (l bunLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	return l.db.RunInTx(ctx, nil, func(_ context.Context, tx bun.Tx) error { return fn(tx.Tx) })
}
