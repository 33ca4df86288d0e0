package schematest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// numberColumn tells the rows of a table apart in the model; no key and no edge has it.
const numberColumn = "row_no"

// DDL are the statements that make the tables; without checks of foreign keys, for they
// may refer to tables that come later.
func (w *World) DDL() []string {
	var all []string
	for _, n := range w.nodes {
		for _, table := range n.tables {
			all = append(all, n.ddl(table))
		}
	}
	return all
}

func (n *node) ddl(table string) string {
	lines := []string{numberColumn + " INT NOT NULL"}
	for _, c := range n.columns {
		null := " NOT NULL"
		if c.null {
			null = " NULL"
		}
		lines = append(lines, ident.Quote(c.name)+" "+c.kind.ddl+null)
	}
	lines = append(lines, "note VARCHAR(60) CHARACTER SET utf8mb4 NULL", "PRIMARY KEY ("+ident.Quotes(n.key...)+")")
	for i, u := range n.uniques {
		lines = append(lines, fmt.Sprintf("UNIQUE KEY u%d (%s)", i, ident.Quotes(u...)))
	}
	seen := map[string]bool{}
	for i, e := range n.edges {
		byKey := len(e.index) <= len(n.key) && slices.Equal(e.index, n.key[:len(e.index)])
		if list := ident.Quotes(e.index...); !seen[list] && !byKey {
			lines, seen[list] = append(lines, fmt.Sprintf("KEY i%d (%s)", i, list)), true
		}
		if e.rule != "" {
			lines = append(lines, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE %s",
				ident.Quotes(e.columns...), ident.Quote(e.parent.name), ident.Quotes(e.references...), e.rule))
		}
	}
	return "CREATE TABLE " + ident.Quote(table) + " (\n  " + strings.Join(lines, ",\n  ") + ")"
}

// Create makes the tables, in the place of what [World.Drop] left, and fills them.
func (w *World) Create(ctx context.Context, db *sql.DB) error {
	var batches []batch
	for _, n := range w.nodes {
		for _, table := range n.tables {
			b := batch{table: table, columns: []string{numberColumn, "note"}}
			for _, c := range n.columns {
				b.columns = append(b.columns, c.name)
			}
			for _, r := range n.rows {
				if r.table != table || r.gone {
					continue
				}
				row := []any{r.number, hostile[r.number%len(hostile)]}
				for _, c := range n.columns {
					row = append(row, literal(c, r.values[c.name]))
				}
				b.rows = append(b.rows, row)
			}
			batches = append(batches, b)
		}
	}
	return load(ctx, db, w.DDL(), batches)
}

// Drop drops the tables.
func (w *World) Drop(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var tables []string
	for _, n := range w.nodes {
		tables = append(tables, n.tables...)
	}
	for _, s := range []string{"SET SESSION foreign_key_checks = 0", "DROP TABLE IF EXISTS " + ident.Quotes(tables...), "SET SESSION foreign_key_checks = 1"} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("schematest: drop the tables of seed %d: %w", w.Seed, err)
		}
	}
	return nil
}

// Plan is what the generator knows.
func (w *World) Plan() schema.Plan {
	var p schema.Plan
	for _, n := range w.nodes {
		t := schema.Table{Name: n.name, Key: n.key}
		if len(n.tables) > 1 {
			t.Archive = n.tables[1]
		}
		for _, e := range n.edges {
			t.Parents = append(t.Parents, schema.Edge{Table: e.parent.name, Columns: e.columns, References: e.references, When: e.when, OnDelete: e.action})
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

// String is everything that replays a failure: seed, plan and DDL.
func (w *World) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", w.Seed)
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "%s, key %q, %d rows\n", strings.Join(n.tables, " and "), n.key, len(n.rows))
		for _, e := range n.edges {
			fmt.Fprintf(&b, "  %q → %s %q, when %q: %s, foreign key %q\n", e.columns, e.parent.name, e.references, e.when, e.action, e.rule)
		}
	}
	return b.String() + strings.Join(w.DDL(), ";\n") + ";\n"
}
