package schematest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// Expectation is what a cascade from one root must leave.
type Expectation struct {
	// Deleted is how many rows of each table go, the root's among them.
	Deleted map[string]int64
	// Detached is how many rows of each table stay and lose a reference.
	Detached map[string]int64
	// After is every row as it must be afterwards.
	After Snapshot
}

// link is an edge between two tables of the database, with what becomes of its rows.
type link struct {
	child, parent       string
	columns, references []string
	when                map[string]string
	action              schema.Action
}

// place is a row: its table and its position there.
type place struct {
	table string
	row   int
}

// Expect follows every reference from the row of the resource that has the key, as the
// database prints it. It reads the database and changes nothing; before is what [Read]
// returned. It is an error if a foreign key to a table of the plan is not in the plan.
func Expect(ctx context.Context, db *sql.DB, before Snapshot, plan schema.Plan, resource string, key ...string) (Expectation, error) {
	links, err := allLinks(ctx, db, plan)
	if err != nil {
		return Expectation{}, err
	}
	root, err := findRoot(before, plan, resource, key)
	if err != nil {
		return Expectation{}, err
	}
	below := make([]map[place][]place, len(links)) // per link: the rows that refer to a row
	for i, l := range links {
		if below[i], err = follow(ctx, db, before, l); err != nil {
			return Expectation{}, err
		}
	}
	gone := map[place]bool{root: true}
	for todo := []place{root}; len(todo) > 0; {
		p := todo[0]
		todo = todo[1:]
		for i, l := range links {
			for _, c := range below[i][p] {
				if l.action == schema.OnDeleteDelete && !gone[c] {
					gone[c] = true
					todo = append(todo, c)
				}
			}
		}
	}
	return before.without(gone, links, below), nil
}

// without is the snapshot after the cascade.
func (s Snapshot) without(gone map[place]bool, links []link, below []map[place][]place) Expectation {
	e := Expectation{Deleted: map[string]int64{}, Detached: map[string]int64{}, After: Snapshot{}}
	changed := map[place]map[string]sql.NullString{}
	for i, l := range links {
		if !l.action.Detaches() {
			continue
		}
		mark := l.action.Mark()
		for p := range gone {
			for _, c := range below[i][p] {
				if gone[c] || mark != "" && s[c.table].Rows[c.row][slices.Index(s[c.table].Columns, mark)].Valid {
					continue
				}
				if changed[c] == nil {
					changed[c] = map[string]sql.NullString{}
					e.Detached[c.table]++
				}
				if mark != "" {
					changed[c][mark] = sql.NullString{String: markValue, Valid: true}
					continue
				}
				for _, column := range s.detached(l, links) {
					changed[c][column] = sql.NullString{}
				}
			}
		}
	}
	for table, c := range s {
		after := &Contents{Columns: c.Columns, Key: c.Key, Nullable: c.Nullable}
		for i, r := range c.Rows {
			p := place{table, i}
			if gone[p] {
				e.Deleted[table]++
				continue
			}
			r = slices.Clone(r)
			for column, value := range changed[p] {
				r[slices.Index(c.Columns, column)] = value
			}
			after.Rows = append(after.Rows, r)
		}
		e.After[table] = after
	}
	return e
}

// detached are the columns of the link that become NULL: those that can, and that
// neither say which row it is nor hold it below another one.
func (s Snapshot) detached(l link, links []link) []string {
	c := s[l.child]
	return slices.DeleteFunc(slices.Clone(l.columns), func(column string) bool {
		return slices.Contains(c.Key, column) || !c.Nullable[slices.Index(c.Columns, column)] ||
			slices.ContainsFunc(links, func(other link) bool {
				return other.child == l.child && other.action == schema.OnDeleteDelete && slices.Contains(other.columns, column)
			})
	})
}

// follow joins child and parent: by the database's idea of equality, over all rows.
func follow(ctx context.Context, db *sql.DB, s Snapshot, l link) (map[place][]place, error) {
	child, parent := s[l.child], s[l.parent]
	if child == nil || parent == nil || len(child.Key) == 0 || len(parent.Key) == 0 {
		return nil, fmt.Errorf("schematest: %s or %s is no table with a primary key", l.child, l.parent)
	}
	var on []string
	for i := range l.columns {
		on = append(on, "c."+ident.Quote(l.columns[i])+" = p."+ident.Quote(l.references[i]))
	}
	var args []any
	for _, column := range slices.Sorted(maps.Keys(l.when)) {
		on, args = append(on, "c."+ident.Quote(column)+" = ?"), append(args, l.when[column])
	}
	query := "SELECT " + casts("p", parent.Key) + ", " + casts("c", child.Key) + " FROM " + ident.Quote(l.child) + " c JOIN " +
		ident.Quote(l.parent) + " p ON " + strings.Join(on, " AND ")
	places := func(table string, c *Contents) map[string]place {
		m := map[string]place{}
		for i, r := range c.Rows {
			m[c.id(r, c.Key)] = place{table, i}
		}
		return m
	}
	parents, children := places(l.parent, parent), places(l.child, child)
	found := map[place][]place{}
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		row := make(Row, len(parent.Key)+len(child.Key))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		above := &Contents{Columns: parent.Key}
		under := &Contents{Columns: child.Key}
		p, knownParent := parents[above.id(row[:len(parent.Key)], parent.Key)]
		c, knownChild := children[under.id(row[len(parent.Key):], child.Key)]
		if !knownParent || !knownChild {
			return errors.New("a row changed while it was read")
		}
		found[p] = append(found[p], c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("schematest: follow %s to %s: %w", l.child, l.parent, err)
	}
	return found, nil
}

func findRoot(s Snapshot, plan schema.Plan, resource string, key []string) (place, error) {
	n, err := plan.Node(resource)
	if err != nil {
		return place{}, err
	}
	for _, table := range n.Tables {
		c := s[table]
		for i := range c.Rows {
			values := make([]string, len(n.Key))
			for k, column := range n.Key {
				values[k] = c.Rows[i][slices.Index(c.Columns, column)].String
			}
			if slices.Equal(values, key) {
				return place{table, i}, nil
			}
		}
	}
	return place{}, fmt.Errorf("schematest: there is no %s %q", resource, key)
}
