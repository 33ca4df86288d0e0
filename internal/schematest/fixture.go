package schematest

import (
	"context"
	"database/sql"
	_ "embed" // the schemas
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

var (
	//go:embed dvd.sql
	dvdSQL string
	//go:embed music.sql
	musicSQL string
	//go:embed hr.sql
	hrSQL string
)

// Fixture is a schema of well-known shape, with data.
type Fixture struct {
	// Name of the shape: "dvd", "music", "hr".
	Name string
	// Roots are tables from which every table is reached.
	Roots []string
	ddl   string
	rows  func(*rand.Rand) []batch
}

// Fixtures returns the three schemas. Their data is the same in every run.
func Fixtures() []Fixture {
	return []Fixture{
		{"dvd", []string{"country", "language", "category", "actor"}, dvdSQL, dvdRows},
		{"music", []string{"artist", "genre", "media_type", "playlist", "employee", "customer"}, musicSQL, musicRows},
		{"hr", []string{"regions", "jobs"}, hrSQL, hrRows},
	}
}

// Load makes the tables in an empty database and fills them.
func (f Fixture) Load(ctx context.Context, db *sql.DB) error {
	return load(ctx, db, statements(f.ddl), f.rows(rand.New(rand.NewPCG(1, uint64(len(f.Name)))))) //nolint:gosec // data that is the same in every run
}

// statements cuts a file of DDL, whose statements end with a semicolon at the end of a line.
func statements(text string) []string {
	var all []string
	for _, s := range strings.Split(text, ";\n") {
		if strings.TrimSpace(s) != "" {
			all = append(all, s)
		}
	}
	return all
}

// batch is the rows of one table.
type batch struct {
	table   string
	columns []string
	rows    [][]any
}

// into begins a batch; the columns are separated by spaces.
func into(table, columns string) *batch {
	return &batch{table: table, columns: strings.Fields(columns)}
}

func (b *batch) add(values ...any) { b.rows = append(b.rows, values) }

const rowsPerInsert = 100

// load runs everything on one connection without checks of foreign keys, for tables
// may refer to each other in a circle.
func load(ctx context.Context, db *sql.DB, ddl []string, batches []batch) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("schematest: load: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return fmt.Errorf("schematest: load: %w", err)
	}
	defer func() {
		_, back := conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 1")
		err = errors.Join(err, back)
	}()
	for _, s := range ddl {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("schematest: %s: %w", s, err)
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("schematest: load: %w", err)
	}
	defer func() {
		if back := tx.Rollback(); !errors.Is(back, sql.ErrTxDone) {
			err = errors.Join(err, back)
		}
	}()
	for _, b := range batches {
		if err := insert(ctx, tx, b); err != nil {
			return fmt.Errorf("schematest: insert into %s: %w", b.table, err)
		}
	}
	return tx.Commit()
}

func insert(ctx context.Context, tx *sql.Tx, b batch) error {
	for at := 0; at < len(b.rows); at += rowsPerInsert {
		var values []string
		var args []any
		for _, row := range b.rows[at:min(at+rowsPerInsert, len(b.rows))] {
			values, args = append(values, "("+ident.Params(len(row))+")"), append(args, row...)
		}
		query := "INSERT INTO " + ident.Quote(b.table) + " (" + ident.Quotes(b.columns...) + ") VALUES " + strings.Join(values, ", ") //nolint:gosec // quoted names and question marks
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}
