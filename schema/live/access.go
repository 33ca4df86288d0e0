package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/internal/dict"
)

// Access is what the user of a connection may do, as far as a worker needs it.
type Access struct {
	// Database is the current database; User is the user, as GRANT names it.
	Database, User string
	// Needs is what was asked for.
	Needs []Privilege
	// Missing names each right of these that the user does not have. The fix is the GRANT statement.
	Missing []Difference
	// Blind says what the user may not be shown, so that [Verify] has not looked at it:
	// triggers, and foreign keys of tables on which the user has no right.
	Blind []Note
}

// VerifyPrivileges proves on the live database what somebody needs, a worker [Privileges], without a write:
// the server checks the rights of an EXPLAIN as those of the statement that is explained, whether they come
// from the user, a role, or a grant on the database, the table or its columns.
//
// Two statements, and one for each right, and those of [catalog.Read] where a plan with a trash detaches
// rows; none of them locks or reads a row. What does not exist is left to [Verify]. Without needs it only
// says what the user may not be shown. Errors: [schema.ErrInvalidPlan] and the driver's.
func VerifyPrivileges(ctx context.Context, db onerow.DB, plan schema.Plan, needs []Privilege) (Access, error) {
	if err := plan.Check(); err != nil {
		return Access{}, err
	}
	a := Access{Needs: needs}
	moving, err := movingColumns(ctx, db, needs)
	if err != nil {
		return Access{}, err
	}
	g, err := readGrants(ctx, db, &a)
	if err != nil {
		return Access{}, fmt.Errorf("schema: verify privileges: %w", err)
	}
	for _, p := range needs {
		var lacks []right
		for _, r := range p.rights {
			if r.moves {
				r.columns = slices.Concat(r.columns, moving[p.Table])
			}
			denied, err := dict.IsDenied(ctx, db, explainSQL(p.Table, r))
			if err != nil {
				return Access{}, fmt.Errorf("schema: verify privileges: %s on %q: %w", r.text(), p.Table, err)
			}
			if denied {
				lacks = append(lacks, r)
			}
		}
		if len(lacks) > 0 {
			missing := privilege(p.Table, lacks...)
			grant := missing.grant(a.Database, a.User)
			a.Missing = append(a.Missing, Difference{Table: p.Table, Fix: grant, SQL: grant,
				Problem: fmt.Sprintf("the user %s has no %s on it, or it does not exist", a.User, strings.Join(missing.Rights, ", "))})
		}
	}
	a.Blind = g.blind(a, plan)
	return a, nil
}

// explainSQL asks for the right in the way of the worker's statements, but for no row.
func explainSQL(table string, r right) string {
	t, columns := ident.Quote(table), ident.Quotes(r.columns...)
	switch r.verb {
	case "SELECT":
		return "EXPLAIN SELECT " + columns + " FROM " + t + " WHERE FALSE"
	case "DELETE":
		return "EXPLAIN DELETE FROM " + t + " WHERE FALSE"
	case "INSERT":
		nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(r.columns)), ", ")
		return "EXPLAIN INSERT INTO " + t + " (" + columns + ") SELECT " + nulls + " FROM DUAL WHERE FALSE"
	}
	same := make([]string, len(r.columns))
	for i, col := range r.columns {
		same[i] = ident.Quote(col) + " = NULL" // its own value would ask for SELECT as well
	}
	return "EXPLAIN UPDATE " + t + " SET " + strings.Join(same, ", ") + " WHERE FALSE"
}

// movingColumns returns, by table, the columns that change by themselves with each UPDATE, of tables that
// lose references and keep what they were.
func movingColumns(ctx context.Context, db onerow.DB, needs []Privilege) (map[string][]string, error) {
	var tables []string
	for _, p := range needs {
		if slices.ContainsFunc(p.rights, func(r right) bool { return r.moves }) {
			tables = append(tables, p.Table)
		}
	}
	if len(tables) == 0 {
		return nil, nil
	}
	cat, err := catalog.Read(ctx, db, tables...)
	if err != nil {
		return nil, err
	}
	moving := map[string][]string{}
	for _, table := range tables {
		for _, column := range cat.Columns(table) {
			if column.Moves {
				moving[table] = append(moving[table], column.Name)
			}
		}
	}
	return moving, nil
}

// Note is something that a person who reads a discovered plan should know.
type Note struct {
	// Table is the table that is concerned, or empty: the whole plan.
	Table string `json:"table,omitempty"`
	// Text is one or two sentences.
	Text string `json:"text"`
}
