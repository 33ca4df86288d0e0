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
	// Needs is what a worker needs, see [Privileges].
	Needs []Privilege
	// Missing names each right of these that the user does not have. The fix is the
	// GRANT statement.
	Missing []Difference
	// Blind says what the user may not be shown, so that [Verify] has not looked at it:
	// triggers, and foreign keys of tables on which the user has no right.
	Blind []Note
}

// VerifyPrivileges proves on the live database what a worker needs, without a write: the
// server checks the rights of an EXPLAIN as those of the statement that is explained,
// whether they come from the user, a role, or a grant on the database, the table or
// its columns.
//
// Two statements, and one for each right, and those of [catalog.Read] where a plan with a trash
// detaches rows; none of them locks or reads a row. What does not exist is left to [Verify].
// Errors: [schema.ErrInvalidPlan] and the driver's.
func VerifyPrivileges(ctx context.Context, db onerow.DB, plan schema.Plan) (Access, error) {
	if err := plan.Check(); err != nil {
		return Access{}, err
	}
	a := Access{Needs: Privileges(plan)}
	moving, err := movingColumns(ctx, db, plan)
	if err != nil {
		return Access{}, err
	}
	g, err := a.prove(ctx, db, moving)
	if err != nil {
		return Access{}, err
	}
	a.Blind = g.blind(a, plan)
	return a, nil
}

// Blind says what the user may not be shown of the plan's tables, as [Access] does. Two statements.
func Blind(ctx context.Context, db onerow.DB, plan schema.Plan) ([]Note, error) {
	var a Access
	g, err := readGrants(ctx, db, &a)
	if err != nil {
		return nil, err
	}
	return g.blind(a, plan), nil
}

// VerifyRestorePrivileges proves as [VerifyPrivileges] does what [RestorePrivileges] says. Nothing is Blind.
func VerifyRestorePrivileges(ctx context.Context, db onerow.DB, plan schema.Plan) (Access, error) {
	if err := plan.Check(); err != nil {
		return Access{}, err
	}
	a := Access{Needs: RestorePrivileges(plan)}
	if _, err := a.prove(ctx, db, nil); err != nil {
		return Access{}, err
	}
	return a, nil
}

// prove has each right that is needed and that the user does not have in Missing.
func (a *Access) prove(ctx context.Context, db onerow.DB, moving map[string][]string) (grants, error) {
	g, err := readGrants(ctx, db, a)
	if err != nil {
		return g, fmt.Errorf("schema: verify privileges: %w", err)
	}
	for _, p := range a.Needs {
		for i, r := range p.rights {
			if r.verb == "UPDATE" {
				p.rights[i].columns = slices.Concat(r.columns, moving[p.Table])
			}
		}
		var lacks []right
		for _, r := range p.rights {
			denied, err := dict.IsDenied(ctx, db, explainSQL(p.Table, r))
			if err != nil {
				return g, fmt.Errorf("schema: verify privileges: %s on %q: %w", r.text(), p.Table, err)
			}
			if denied {
				lacks = append(lacks, r)
			}
		}
		if len(lacks) > 0 {
			missing := privilege(p.Table, lacks...)
			a.Missing = append(a.Missing, Difference{Table: p.Table,
				Problem: fmt.Sprintf("the user %s has no %s on it, or it does not exist", a.User, strings.Join(missing.Rights, ", ")),
				Fix:     missing.Grant(a.Database, a.User), SQL: missing.Grant(a.Database, a.User)})
		}
	}
	return g, nil
}

// explainSQL asks for the right in the way of the worker's statements, but for no row.
func explainSQL(table string, r right) string {
	t, columns := schema.Quote(table), ident.Quotes(r.columns...)
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
		same[i] = schema.Quote(col) + " = NULL" // its own value would ask for SELECT as well
	}
	return "EXPLAIN UPDATE " + t + " SET " + strings.Join(same, ", ") + " WHERE FALSE"
}

// movingColumns are, by table, the columns that change by themselves with each UPDATE, of tables that lose
// references and keep what they were.
func movingColumns(ctx context.Context, db onerow.DB, plan schema.Plan) (map[string][]string, error) {
	var tables []string
	for _, n := range plan.Nodes() {
		if n.Trash > 0 && slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.OnDelete.Detaches() || e.Table == n.Name }) {
			tables = append(tables, n.Tables...)
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
