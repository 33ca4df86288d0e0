package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

const database = "osc"

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Body   string `db:"body"`
}

type ticket struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Title     string `db:"title"`
	Body      string `db:"body"`
}

// shop is the application: a small tree, of which one reference is cut.
//
//	project, with an archive ─┬─ ticket, with an archive ── note
//	                          └─ link, which stays
type shop struct {
	plan     schema.Plan
	projects *repo.Repo[project]
	tickets  *repo.Repo[ticket]
}

// ownTables are those that the toolkit did not make.
var ownTables = []string{
	`CREATE TABLE note (ticket_id BIGINT NOT NULL, n INT NOT NULL, body VARCHAR(120) NOT NULL, PRIMARY KEY (ticket_id, n)) ENGINE=InnoDB`,
	`CREATE TABLE link (id BIGINT NOT NULL PRIMARY KEY, project_id BIGINT NULL, body VARCHAR(120) NOT NULL, INDEX (project_id)) ENGINE=InnoDB`,
}

// keyColumns are NULL where a program of before has written the row, until the backfill fills them.
var keyColumns = []string{"title_key", "stem_key"}

func plan() schema.Plan {
	body := []schema.Column{{Name: "body", Type: "VARCHAR(120) NOT NULL"}}
	return schema.Plan{
		Trash: schema.Age(24 * time.Hour),
		Resources: []schema.Resource{
			{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Columns: body},
			{
				Name: "ticket", Archive: "ticket_archive", IDType: "BIGINT NOT NULL", Owner: "project_id",
				Parent: schema.Parent{Resource: "project", Column: "project_id", Archived: true}, Label: schema.Label{Column: "title", Key: keyColumns[0]}, Columns: body,
			},
		},
		Tables: []schema.Table{
			{Name: "note", Key: []string{"ticket_id", "n"}, Parents: []schema.Edge{{Table: "ticket", Columns: []string{"ticket_id"}}}},
			{Name: "link", Key: []string{"id"}, Stays: true, Parents: []schema.Edge{{Table: "project", Columns: []string{"project_id"}, OnDelete: schema.OnDeleteDetach}}},
		},
	}
}

// families are the tables that are altered together.
func (s *shop) families() (all [][]string) {
	for _, n := range s.plan.Nodes() {
		tables := slices.Clone(n.Tables)
		for _, table := range n.Tables {
			tables = append(tables, ident.TrashTable(table))
		}
		all = append(all, tables)
	}
	return all
}

func newShop(ctx context.Context, db *sql.DB) (*shop, error) {
	s := &shop{plan: plan()}
	if err := migrations.Up(ctx, db); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if err := execAll(ctx, db, append(s.plan.DDL(), ownTables...)...); err != nil {
		return nil, err
	}
	if err := s.keys(ctx, db, "NULL", "ticket", "ticket_archive"); err != nil {
		return nil, err
	}
	cat, err := catalog.Read(ctx, db)
	var trash []string
	if err == nil {
		trash, err = cat.TrashDDL(s.plan)
	}
	if err == nil {
		err = execAll(ctx, db, trash...)
	}
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	var errs [2]error
	s.projects, errs[0] = repo.New[project](s.plan, "project")
	s.tickets, errs[1] = repo.New[ticket](s.plan, "ticket")
	return s, errors.Join(errs[:]...)
}

// keys lets the keys of titles be NULL, as while a backfill runs, or NOT NULL, as behind it.
func (s *shop) keys(ctx context.Context, db *sql.DB, null string, tables ...string) error {
	for _, table := range tables {
		for _, column := range keyColumns {
			var kind string
			err := db.QueryRowContext(ctx, sqlType, table, column).Scan(&kind)
			if err == nil {
				err = execAll(ctx, db, "ALTER TABLE "+ident.Quote(table)+" MODIFY "+column+" "+kind+" "+null)
			}
			if err != nil {
				return fmt.Errorf("soak: %s of %s: %w", column, table, err)
			}
		}
	}
	return nil
}

// sqlType reads a column's type as it is declared.
const sqlType = `SELECT CONCAT(column_type, IF(collation_name IS NULL, '', CONCAT(' CHARACTER SET ', character_set_name, ' COLLATE ', collation_name)))
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?`

// contract makes the keys NOT NULL when all are there. Trash tables get what was in their table.
func (s *shop) contract(ctx context.Context, db *sql.DB) error {
	return s.keys(ctx, db, "NOT NULL", "ticket", "ticket_archive")
}

func execAll(ctx context.Context, db *sql.DB, queries ...string) error {
	for _, query := range queries {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	return nil
}
