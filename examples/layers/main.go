// Command layers writes with sqlc, gorm, ent, bun, sqlx and squirrel in one transaction with a verb of
// onerow's, and calls verbs in their transactions. One file each. It wants an empty database:
//
//	go run . 'user:password@tcp(127.0.0.1:3306)/app'
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
}}}

// createNote makes a table of the application's own, which onerow knows nothing of. sqlc reads it too.
//
//go:embed notes/schema.sql
var createNote string

// layer is what each file shows.
type layer interface {
	// add and texts use the layer in a transaction of onerow's.
	add(ctx context.Context, tx *onerow.Tx, projectID int64, text string) error
	texts(ctx context.Context, tx *onerow.Tx, projectID int64) ([]string, error)
	// begin runs fn in a transaction of the layer's, which onerow's verbs join.
	begin(ctx context.Context, fn func(tx onerow.DB) error) error
}

func layers(db *sql.DB) (map[string]layer, error) {
	g, err := openGorm(db, false)
	if err != nil {
		return nil, err
	}
	prepared, err := openGorm(db, true)
	if err != nil {
		return nil, err
	}
	return map[string]layer{
		"sqlc": sqlcLayer{db}, "gorm": gormLayer{g}, "gorm, prepared": gormLayer{prepared}, "ent": entLayer{db}, "bun": openBun(db), "sqlx": openSqlx(db), "squirrel": squirrelLayer{db},
	}, nil
}

// inSQLTx is begin for a layer that has no transactions of its own.
func inSQLTx(ctx context.Context, db *sql.DB, fn func(tx onerow.DB) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: layers 'user:password@tcp(127.0.0.1:3306)/app'")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dsn string) error {
	db, err := pool.Open(dsn)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, table := range append(plan.DDL(), createNote) {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return err
		}
	}
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	all, err := layers(db)
	if err != nil {
		return err
	}
	for name, l := range all {
		made, err := create(ctx, db, projects, l, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		// The other way round: the layer begins, the verb joins.
		err = l.begin(ctx, func(tx onerow.DB) error {
			_, err := projects.Archive(ctx, tx, made.ID)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%s made project %d and archived it\n", name, made.ID)
	}
	return nil
}

// create makes a project and its first note, or neither.
func create(ctx context.Context, db onerow.DB, projects *repo.Repo[project], l layer, name string) (made project, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := projects.Create(ctx, tx, project{UserID: 7, Name: name})
		if err != nil {
			return err
		}
		made = res.Row
		if err := l.add(ctx, tx, made.ID, "made with "+name); err != nil {
			return err
		}
		texts, err := l.texts(ctx, tx, made.ID)
		if err == nil && len(texts) != 1 {
			err = fmt.Errorf("project %d has the notes %q", made.ID, texts)
		}
		return err
	})
	return made, err
}
