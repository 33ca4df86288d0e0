package brokenfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/serial"
)

const (
	maximum = 100 // projects of an owner
	owners  = 3
)

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

type screen struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Note      string `db:"note"` // fills the disk
}

// shop is the application.
type shop struct {
	plan     schema.Plan
	rule     *limit.Rule
	projects *repo.Repo[project]
	screens  *repo.Repo[screen]
	keys     *idempotency.Keys
	numbers  *serial.Series
}

// ownTables are the application's beside the plan's. A ledger's row belongs to a transaction, an effect to a
// key.
var ownTables = []string{
	`CREATE TABLE ledger (token VARCHAR(60) NOT NULL, no BIGINT NULL, INDEX (token)) ENGINE=InnoDB`,
	`CREATE TABLE effect (token VARCHAR(60) NOT NULL, INDEX (token)) ENGINE=InnoDB`,
	`CREATE TABLE account (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL) ENGINE=InnoDB`,
	`INSERT INTO account VALUES (1, 0), (2, 0), (3, 0)`,
}

// createAccount makes the database and the account of the application, which read_only holds.
func createAccount(ctx context.Context, admin *sql.DB) error {
	for _, query := range []string{
		"CREATE DATABASE " + database, "CREATE USER " + account + "@localhost", "GRANT ALL PRIVILEGES ON " + database + ".* TO " + account + "@localhost",
	} {
		if _, err := admin.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	return nil
}

func newShop(ctx context.Context, db *sql.DB) (*shop, error) {
	s := &shop{plan: schema.Plan{Trash: schema.Age(24 * time.Hour), Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Limits: []schema.Limit{{}}},
		{
			Name: "screen", Parent: schema.Parent{Resource: "project", Column: "project_id"},
			Columns: []schema.Column{{Name: "note", Type: "TEXT NOT NULL"}},
		},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if err := execAll(ctx, db, append(s.plan.DDL(), ownTables...)); err != nil {
		return nil, err
	}
	cat, err := catalog.Read(ctx, db)
	var trash []string
	if err == nil {
		trash, err = cat.TrashDDL(s.plan)
	}
	if err == nil {
		err = execAll(ctx, db, trash)
	}
	if err != nil {
		return nil, err
	}
	var errs [5]error
	s.rule, errs[0] = limit.New(s.plan, "project", quota.Fixed(maximum))
	s.projects, errs[1] = repo.New[project](s.plan, "project", s.rule)
	s.screens, errs[2] = repo.New[screen](s.plan, "screen")
	s.keys, errs[3] = idempotency.New(idempotency.Config{})
	s.numbers, errs[4] = serial.New("numbers")
	return s, errors.Join(errs[:]...)
}

func execAll(ctx context.Context, db *sql.DB, queries []string) error {
	for _, query := range queries {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	return nil
}
