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
	"github.com/onerow/onerow/schema"
)

// sqlForeignKeys: a row per column of each foreign key within the database.
const sqlForeignKeys = `SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name, r.delete_rule
FROM information_schema.key_column_usage k
JOIN information_schema.referential_constraints r ON r.constraint_schema = k.table_schema AND r.constraint_name = k.constraint_name
  AND r.table_name = k.table_name
WHERE k.table_schema = DATABASE() AND k.referenced_table_schema = DATABASE()
ORDER BY k.table_name, k.constraint_name, k.ordinal_position`

// ForeignKey is a foreign key of the database.
type ForeignKey struct {
	Child, Parent       string
	Columns, References []string
	// Rule is its ON DELETE: "RESTRICT", "NO ACTION", "SET NULL", "CASCADE".
	Rule string
}

// ForeignKeys reads the foreign keys of the database: one statement.
func ForeignKeys(ctx context.Context, db *sql.DB) ([]ForeignKey, error) {
	var keys []ForeignKey
	last := ""
	err := onerow.Query(ctx, db, sqlForeignKeys, nil, func(rows *sql.Rows) error {
		var child, name, column, parent, reference, rule string
		if err := rows.Scan(&child, &name, &column, &parent, &reference, &rule); err != nil {
			return err
		}
		if id := child + "\x00" + name; id != last {
			keys, last = append(keys, ForeignKey{Child: child, Parent: parent, Rule: rule}), id
		}
		k := &keys[len(keys)-1]
		k.Columns, k.References = append(k.Columns, column), append(k.References, reference)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("schematest: read the foreign keys: %w", err)
	}
	return keys, nil
}

// allLinks are the foreign keys to the plan's tables, whose rows go, with the plan's actions, and the
// edges that only the plan knows.
func allLinks(ctx context.Context, db *sql.DB, plan schema.Plan) ([]link, error) {
	keys, err := ForeignKeys(ctx, db)
	if err != nil {
		return nil, err
	}
	planned, owner := map[string]link{}, map[string]string{}
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			if !n.Stays { // what is below rows that stay is not concerned
				owner[table] = n.Name
			}
		}
	}
	for _, n := range plan.Nodes() {
		for _, e := range n.Parents {
			above, err := plan.Node(e.Table)
			if err != nil {
				return nil, err
			}
			for _, child := range n.Tables {
				for _, parent := range above.Tables {
					l := link{child, parent, e.Columns, e.References, e.When, e.OnDelete}
					planned[l.name()] = l
				}
			}
		}
	}
	var errs []error
	for _, k := range keys {
		if owner[k.Parent] == "" {
			continue
		}
		l, ok := planned[link{child: k.Child, parent: k.Parent, columns: k.Columns, references: k.References}.name()]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("the plan lacks the foreign key from %s %q to %s %q", k.Child, k.Columns, k.Parent, k.References))
		case k.Rule == "SET NULL" && l.action != schema.OnDeleteDetach, l.action == schema.OnDeleteKeep:
			errs = append(errs, fmt.Errorf("the foreign key from %s %q to %s is ON DELETE %s, the plan says %q", k.Child, k.Columns, k.Parent, k.Rule, l.action))
		}
	}
	var links []link
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		links = append(links, planned[name])
	}
	return links, errors.Join(errs...)
}

// name tells links apart, whatever the order of the columns.
func (l link) name() string {
	var parts []string
	for i := range l.columns {
		parts = append(parts, l.columns[i]+"→"+l.references[i])
	}
	slices.Sort(parts)
	for _, column := range slices.Sorted(maps.Keys(l.when)) {
		parts = append(parts, column+"="+l.when[column])
	}
	return strings.Join(append([]string{l.child, l.parent}, parts...), "\x00")
}

// Tables are the names of the tables that have rows to delete, sorted.
func (e Expectation) Tables() []string { return slices.Sorted(maps.Keys(e.Deleted)) }

// Compare reads the database and says how it differs from what must be left; nothing where it does not.
func (e Expectation) Compare(ctx context.Context, db *sql.DB) ([]string, error) {
	after, err := Read(ctx, db)
	if err != nil {
		return nil, err
	}
	return Diff(e.After, after), nil
}
