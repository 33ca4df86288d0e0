package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
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

// erOptionPrevents is SHOW GRANTS of a server that runs without privileges.
const erOptionPrevents = 1290

// VerifyPrivileges proves on the live database what a worker needs, without a write: the
// server checks the rights of an EXPLAIN as those of the statement that is explained,
// whether they come from the user, a role, or a grant on the database, the table or
// its columns.
//
// Two statements, and one for each right, and those of [InspectTables] where a plan with a trash
// detaches rows; none of them locks or reads a row. What does not exist is left to [Verify].
// Errors: [ErrInvalidPlan] and the driver's.
func VerifyPrivileges(ctx context.Context, db onerow.DB, plan Plan) (Access, error) {
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
func Blind(ctx context.Context, db onerow.DB, plan Plan) ([]Note, error) {
	var a Access
	g, err := readGrants(ctx, db, &a)
	if err != nil {
		return nil, err
	}
	return g.blind(a, plan), nil
}

// VerifyRestorePrivileges proves as [VerifyPrivileges] does what [RestorePrivileges] says. Nothing is Blind.
func VerifyRestorePrivileges(ctx context.Context, db onerow.DB, plan Plan) (Access, error) {
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
			denied, err := isDenied(ctx, db, explainSQL(p.Table, r))
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
	t, columns := Quote(table), ident.Quotes(r.columns...)
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
		same[i] = Quote(col) + " = NULL" // its own value would ask for SELECT as well
	}
	return "EXPLAIN UPDATE " + t + " SET " + strings.Join(same, ", ") + " WHERE FALSE"
}

// movingColumns are, by table, the columns that change by themselves with each UPDATE, of tables that lose
// references and keep what they were.
func movingColumns(ctx context.Context, db onerow.DB, plan Plan) (map[string][]string, error) {
	var tables []string
	for _, n := range plan.Nodes() {
		if n.Trash > 0 && slices.ContainsFunc(n.Parents, func(e Edge) bool { return e.OnDelete.Detaches() || e.Table == n.Name }) {
			tables = append(tables, n.Tables...)
		}
	}
	if len(tables) == 0 {
		return nil, nil
	}
	cat, err := InspectTables(ctx, db, tables)
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

// grants are the lines of SHOW GRANTS, those of active roles among them.
type grants struct {
	all     bool // the server checks nothing
	revoked bool // MySQL has taken a part of a grant away: better blind than wrong
	given   []grant
}

type grant struct {
	rights []string
	on     string // as the server writes it: *.*, `shop`.*, `shop`.`project`
}

const sqlCurrentUser = `SELECT CURRENT_USER(), DATABASE()`

func readGrants(ctx context.Context, db onerow.DB, a *Access) (grants, error) {
	var g grants
	var user string
	var database sql.NullString
	if err := onerow.QueryRow(ctx, db, sqlCurrentUser, nil, &user, &database); err != nil {
		return g, err
	}
	if !database.Valid {
		return g, errNoDatabase
	}
	a.Database, a.User = database.String, Grantee(user)
	err := onerow.Query(ctx, db, "SHOW GRANTS", nil, func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		g.add(line)
		return nil
	})
	var my *mysql.MySQLError
	if errors.As(err, &my) && my.Number == erOptionPrevents {
		return grants{all: true}, nil
	}
	return g, err
}

// add understands "GRANT rights ON object TO …".
func (g *grants) add(line string) {
	g.revoked = g.revoked || strings.HasPrefix(line, "REVOKE ")
	rest, ok := strings.CutPrefix(line, "GRANT ")
	if !ok {
		return
	}
	rights, rest, ok := strings.Cut(rest, " ON ")
	at := strings.LastIndex(rest, " TO ")
	if !ok || at < 0 || strings.HasPrefix(rights, "PROXY") {
		return
	}
	if strings.Contains(rights, "(") { // of columns: it shows the table, but not its triggers
		return
	}
	g.given = append(g.given, grant{strings.Split(rights, ", "), rest[:at]})
}

// may says whether one of the rights is given on the whole database, or on the table if
// one is named.
func (g grants) may(database, table string, rights ...string) bool {
	return g.all || !g.revoked && slices.ContainsFunc(g.given, func(x grant) bool {
		return slices.ContainsFunc(append(rights, "ALL PRIVILEGES", "ALL"), func(r string) bool { return slices.Contains(x.rights, r) }) &&
			covers(x.on, database, table)
	})
}

// covers: the name of a database in a grant is a pattern of LIKE, that of a table is not.
func covers(on, database, table string) bool {
	if on == "*.*" {
		return true
	}
	for _, q := range []string{"`", `"`} {
		twice := q + q
		inner, ok := strings.CutPrefix(on, q)
		if !ok {
			continue
		}
		if pattern, ok := strings.CutSuffix(inner, q+".*"); ok {
			return like(strings.ReplaceAll(pattern, twice, q), database)
		}
		if table != "" {
			return on == q+strings.ReplaceAll(database, q, twice)+q+"."+q+strings.ReplaceAll(table, q, twice)+q
		}
	}
	return false
}

// like is LIKE for the patterns of grants, letter by letter.
func like(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	var match func(i, j int) bool
	match = func(i, j int) bool {
		switch {
		case i == len(p):
			return j == len(n)
		case p[i] == '%':
			return match(i+1, j) || j < len(n) && match(i, j+1)
		case j == len(n):
			return false
		case p[i] == '_':
			return match(i+1, j+1)
		case p[i] == '\\' && i+1 < len(p):
			i++
		}
		return p[i] == n[j] && match(i+1, j+1)
	}
	return match(0, 0)
}

// blind says what the user may not be shown.
func (g grants) blind(a Access, plan Plan) []Note {
	var notes []Note
	var hidden []string
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			if !g.may(a.Database, table, "TRIGGER") {
				hidden = append(hidden, table)
			}
		}
	}
	once := fmt.Sprintf("verify once as a user who may: GRANT TRIGGER ON %s.* TO …", Quote(a.Database))
	if len(hidden) > 0 {
		notes = append(notes, Note{Text: fmt.Sprintf("%s has no right TRIGGER on %s, so triggers there may not be shown, and were not looked for; %s",
			a.User, strings.Join(hidden, ", "), once)})
	}
	// A table is shown to those who may do something with it; MariaDB does not count SELECT.
	if !g.may(a.Database, "", "TRIGGER", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "REFERENCES") {
		notes = append(notes, Note{Text: fmt.Sprintf("%s has rights on single tables only, so foreign keys of other tables that refer to the plan's, a hidden ON DELETE CASCADE among them, are not shown; %s",
			a.User, once)})
	}
	return notes
}

// Note is something that a person who reads a discovered plan should know.
type Note struct {
	// Table is the table that is concerned, or empty: the whole plan.
	Table string `json:"table,omitempty"`
	// Text is one or two sentences.
	Text string `json:"text"`
}
