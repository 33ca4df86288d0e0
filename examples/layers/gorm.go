package main

import (
	"context"
	"database/sql"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/onerow/onerow"
)

type gormLayer struct{ db *gorm.DB }

func openGorm(db *sql.DB, prepared bool) (*gorm.DB, error) {
	return gorm.Open(mysql.New(mysql.Config{Conn: db}), &gorm.Config{Logger: logger.Discard, PrepareStmt: prepared})
}

// in is gorm in a transaction of onerow's. Every call makes its own. Gorm's Transaction has no place in it.
func (l gormLayer) in(ctx context.Context, tx *onerow.Tx) *gorm.DB {
	session := l.db.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = tx
	return session
}

type gormNote struct {
	ID        int64
	ProjectID int64
	Text      string
}

func (gormNote) TableName() string { return "note" }

func (l gormLayer) add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error {
	return l.in(ctx, tx).Create(&gormNote{ProjectID: projectID, Text: text}).Error
}

func (l gormLayer) texts(ctx context.Context, tx *onerow.Tx, projectID int64) (texts []string, err error) {
	err = l.in(ctx, tx).Model(&gormNote{}).Where("project_id = ?", projectID).Order("id").Pluck("text", &texts).Error
	return texts, err
}

func (l gormLayer) begin(ctx context.Context, fn func(tx onerow.DB) error) error {
	return l.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		pool := tx.Statement.ConnPool
		if prepared, ok := pool.(*gorm.PreparedStmtTX); ok { // gorm.Config.PrepareStmt; MySQL prepares no SAVEPOINT
			pool = prepared.Tx
		}
		return fn(pool)
	})
}
