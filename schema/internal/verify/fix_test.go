package verify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/shape"
)

// fixCase breaks a database with rows in it in one way.
type fixCase struct {
	kind   Kind
	name   string
	broken []string
	plan   func(*schema.Plan)
	says   string   // a part of the problem
	sql    string   // a part of the statement that is printed, "" where there must be none
	recipe []string // what the words say, where there is no statement
	// may are what may change, each a part of a line of the snapshot: the property of a column that the
	// difference is about.
	may  []string
	left []Kind // what is said next, after the statements
	tool bool   // with the toolkit's tables
	// other: in the tables of somebody else's, not in those of the resource.
	other bool
	// rights are those of the user that looks, if they are not all; who mends has all.
	rights []string
}

// TestFixes: for every kind of difference, what is printed is tried on tables with rows, in the order in
// which it is printed, in sessions of two time zones, one of them not strict. No value, default, comment,
// collation or key changes but the one that the difference is about, and Verify is content, or says what is
// next.
func TestFixes(t *testing.T) {
	tried := map[Kind]bool{}
	kinds := declaredKinds(t)
	for _, c := range fixCases() {
		tried[c.kind] = true
		for _, session := range []map[string]string{{"time_zone": "'+05:30'"}, {"time_zone": "'-11:00'", "sql_mode": "''"}} {
			if c.sql == "" && c.recipe == nil && session["sql_mode"] != "" {
				continue // nothing is run
			}
			t.Run(string(c.kind)+"/"+c.name+"/"+session["time_zone"], func(t *testing.T) {
				if c.recipe != nil && session["sql_mode"] != "" {
					session = map[string]string{"time_zone": session["time_zone"], "sql_mode": "'STRICT_ALL_TABLES'"} // the words say so
				}
				t.Parallel()
				tryFix(t, c, session)
			})
		}
	}
	for _, k := range kinds {
		if !tried[k] {
			t.Errorf("no case tries what is said about %q", k)
		}
	}
	for k := range tried {
		if !slices.Contains(kinds, k) {
			t.Errorf("%q is not among the kinds", k)
		}
	}
}

// declaredKinds are those of the source: none can be forgotten.
func declaredKinds(t *testing.T) (kinds []Kind) {
	source, err := os.ReadFile("kinds.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`Kind = "(.*)"`).FindAllSubmatch(source, -1) {
		kinds = append(kinds, Kind(match[1]))
	}
	if len(kinds) < 30 {
		t.Fatalf("only %d kinds in kinds.go", len(kinds))
	}
	return kinds
}

// isSQL: a statement among the words would be one that nobody tried.
var isSQL = regexp.MustCompile(`ALTER TABLE|MODIFY|CHANGE COLUMN|(DROP|ADD) [A-Z]|UPDATE \S+ SET|RENAME`)

func tryFix(t *testing.T, c fixCase, session map[string]string) {
	plan, tables := fixPlan(), resourceTables()
	if plan.Tables = nil; c.other {
		plan, tables = schema.Plan{Tables: fixPlan().Tables}, otherTables()
	}
	if c.plan != nil {
		c.plan(&plan)
	}
	db, person, looks := world(t, c, tables, session)
	found := findingsOf(t, looks, plan, c.tool)
	at := slices.IndexFunc(found, func(s Finding) bool { return s.Kind == c.kind && strings.Contains(s.Problem, c.says) })
	if at < 0 {
		t.Fatalf("nothing says %q:\n%s", c.says, list(found))
	}
	if got := found[at].SQL; c.sql == "" && got != "" || !strings.Contains(got, c.sql) {
		t.Fatalf("the statement is %q, want %q", got, c.sql)
	}
	for _, s := range found {
		if words := strings.TrimSuffix(s.Fix, s.SQL); isSQL.MatchString(words) || s.Fix == "" || !strings.HasSuffix(s.Fix, s.SQL) {
			t.Errorf("a statement among the words: %q", s.Fix)
		}
	}
	before := snapshot(t, db)
	for _, s := range found {
		if s.SQL != "" {
			run(t, person, s.SQL)
		}
	}
	for _, stmt := range c.recipe {
		if stmt == parseNames {
			parse(t, person, "project")
			continue
		}
		run(t, person, here(t, db, stmt))
	}
	after := snapshot(t, db)
	for _, line := range slices.Sorted(maps.Keys(before)) {
		if after[line] != before[line] && !slices.ContainsFunc(c.may, func(part string) bool { return strings.Contains(line, part) }) {
			t.Errorf("%s was\n  %s\nand is\n  %s\nafter %s", line, before[line], after[line], list(found))
		}
	}
	var left []Kind
	for _, s := range findingsOf(t, looks, plan, c.tool) {
		left = append(left, s.Kind)
	}
	if c.sql == "" && c.recipe == nil {
		return // a person decides
	}
	if !slices.Equal(left, c.left) {
		t.Errorf("left is %q, want %q:\n%s", left, c.left, list(findingsOf(t, looks, plan, c.tool)))
	}
}

// world makes the tables, fills and breaks them, and returns pools for the test, for the person who mends and
// for who looks.
func world(t *testing.T, c fixCase, tables []string, session map[string]string) (db, person, looks *sql.DB) {
	t.Helper()
	db = dbtest.Open(t, dbtest.Param("sql_mode", "%27STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO%27"))
	if c.tool {
		if err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	for _, stmt := range slices.Concat(tables, c.broken) {
		run(t, db, here(t, db, stmt))
	}
	cfg := dbtest.Server(t).Config(here(t, db, "THIS"))
	maps.Copy(cfg.Params, session)
	person = dbtest.OpenDSN(t, cfg.FormatDSN())
	person.SetMaxOpenConns(1) // one session, as a client's is
	if c.rights == nil {
		return db, person, person
	}
	user := here(t, db, "USER")
	run(t, db, "CREATE USER "+user+" IDENTIFIED BY 'only looks'")
	t.Cleanup(func() {
		root := dbtest.OpenDSN(t, dbtest.Server(t).Config("").FormatDSN())
		if _, err := root.ExecContext(context.Background(), "DROP USER "+user); err != nil {
			t.Error(err)
		}
	})
	for _, right := range c.rights {
		run(t, db, here(t, db, right))
	}
	cfg.User, cfg.Passwd, cfg.AllowNativePasswords = here(t, db, "u_THIS"), "only looks", true
	return db, person, dbtest.OpenDSN(t, cfg.FormatDSN())
}

// here names the test's database, and its user.
func here(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "USER", "'u_THIS'@'%'"), "THIS", name)
}

// parse is what a program does to fill the keys of names.
func parse(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT id, name FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[int64]string{}
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			t.Fatal(err)
		}
		stored[id] = name
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for id, name := range stored {
		n, err := names.KindName.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET name_key = ?, stem_key = ?, copy_no = ? WHERE id = ?", n.Key, n.StemKey, n.Copy, id); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, db *sql.DB, stmt string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

// findingsOf is Verify with the kinds.
func findingsOf(t *testing.T, db *sql.DB, plan schema.Plan, toolkits bool) []Finding {
	t.Helper()
	_, found, err := Compare(t.Context(), db, plan)
	if err != nil {
		t.Fatal(err)
	}
	if !toolkits {
		found = slices.DeleteFunc(found, func(s Finding) bool { return shape.IsToolkits(s.Table) })
	}
	return found
}

func list(found []Finding) string {
	var b strings.Builder
	for _, s := range found {
		fmt.Fprintf(&b, "\n  %s: %+v", s.Kind, s.Difference)
	}
	return b.String()
}

// snapshot has a line for each property of each table, column and index, and for the values of each column,
// in the order of the rows' key.
func snapshot(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	lines := map[string]string{}
	add := func(query string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for rows.Next() {
			var line string
			var value sql.NullString
			var order sql.NullString
			dest := []any{&line, &value, &order}
			if columns, err := rows.Columns(); err != nil {
				t.Fatal(err)
			} else if err := rows.Scan(dest[:len(columns)]...); err != nil {
				t.Fatal(err)
			}
			lines[line] += value.String + ";"
			if !value.Valid {
				lines[line] += "NULL;"
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, property := range []string{"column_type", "collation_name", "is_nullable", "column_default", "extra", "column_comment", "generation_expression"} {
		add("SELECT CONCAT(table_name, '.', column_name, ' " + property + "'), " + property + " FROM information_schema.columns WHERE table_schema = DATABASE()")
	}
	add("SELECT CONCAT(table_name, ' key ', index_name), CONCAT(seq_in_index, column_name, COALESCE(sub_part, ''), non_unique) FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, seq_in_index")
	add("SELECT CONCAT(table_name, ' table'), CONCAT(COALESCE(table_collation, ''), table_comment) FROM information_schema.tables WHERE table_schema = DATABASE()")
	add("SELECT CONCAT(table_name, ' engine'), engine FROM information_schema.tables WHERE table_schema = DATABASE()")
	add("SELECT CONCAT(table_name, ' constraint ', constraint_name), CONCAT(delete_rule, update_rule) FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()")
	add("SELECT CONCAT('check ', constraint_name), check_clause FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()")
	add("SELECT CONCAT(event_object_table, ' trigger ', trigger_name), action_statement FROM information_schema.triggers WHERE trigger_schema = DATABASE()")
	values := map[string][]string{}
	for line := range lines {
		if column, ok := strings.CutSuffix(line, " column_type"); ok && !shape.IsToolkits(column) {
			table, name, _ := strings.Cut(column, ".")
			value := "CAST(" + ident.Quote(name) + " AS CHAR)"
			if full := lines[line]; strings.HasPrefix(full, "datetime") || strings.HasPrefix(full, "timestamp") {
				value = "CAST(" + ident.Quote(name) + " AS DATETIME(6))"
			}
			values[table] = append(values[table], "SELECT '"+column+" value', "+value+", the_row FROM "+ident.Quote(table))
		}
	}
	for _, selects := range values {
		add("SELECT * FROM (" + strings.Join(selects, " UNION ALL ") + ") AS every ORDER BY 1, 3")
	}
	return lines
}
