package live

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
)

// erOptionPrevents is SHOW GRANTS of a server that runs without privileges.
const erOptionPrevents = 1290

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
		return g, dict.ErrNoDatabase
	}
	a.Database, a.User = database.String, grantee(user)
	err := onerow.Query(ctx, db, "SHOW GRANTS", nil, func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		g.add(line)
		return nil
	})
	if mysqlerr.Number(err) == erOptionPrevents {
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

// may says whether one of the rights is given on the whole database, or on the table if one is named.
func (g grants) may(database, table string, rights ...string) bool {
	return g.all || !g.revoked && slices.ContainsFunc(g.given, func(x grant) bool {
		return slices.ContainsFunc(append(rights, "ALL PRIVILEGES", "ALL"), func(r string) bool { return slices.Contains(x.rights, r) }) &&
			covers(x.on, database, table)
	})
}

// covers says whether a grant is on the database or the table. The name of a database in it is a pattern of
// LIKE, that of a table is not.
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

// asRegexp makes a quoted pattern of LIKE one of regexp.
var asRegexp = strings.NewReplacer(`\\\\`, `\\`, `\\%`, `%`, `\\_`, `_`, `%`, `.*`, `_`, `.`)

// like is LIKE for the patterns of grants.
func like(pattern, name string) bool {
	matches, err := regexp.MatchString("(?s)^"+asRegexp.Replace(regexp.QuoteMeta(pattern))+"$", name)
	return matches && err == nil
}

// blind says what the user may not be shown.
func (g grants) blind(a Access, plan schema.Plan) []Note {
	var notes []Note
	var hidden []string
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			if !g.may(a.Database, table, "TRIGGER") {
				hidden = append(hidden, table)
			}
		}
	}
	once := fmt.Sprintf("verify once as a user who may: GRANT TRIGGER ON %s.* TO …", ident.Quote(a.Database))
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
