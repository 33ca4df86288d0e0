package live_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
)

func access(t testing.TB, db *sql.DB, plan schema.Plan) live.Access {
	t.Helper()
	a, err := live.VerifyPrivileges(t.Context(), db, plan, live.Privileges(plan))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPrivileges: a user without any is told the GRANT statements, and with them nothing is missing; taking
// any one away is seen.
func TestPrivileges(t *testing.T) {
	db := livetest.Migrated(t, livetest.Shop()...)
	for _, stmt := range livetest.Plain().DDL() {
		dbtest.Exec(t, db, stmt)
	}
	plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"store"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Resources = livetest.Plain().Resources
	if a := access(t, db, plan); len(a.Missing) != 0 || len(a.Blind) != 0 || len(a.Needs) != len(live.Privileges(plan)) {
		t.Fatalf("as root: %+v", a)
	}
	worker, name, database := livetest.User(t, db, "w", "GRANT SELECT ON %d.country TO %u")
	a := access(t, worker, plan)
	if len(a.Missing) != len(a.Needs) || a.User != "'"+name+"'@'%'" || a.Database != database {
		t.Fatalf("%d of %d: %+v", len(a.Missing), len(a.Needs), a)
	}
	for _, d := range a.Missing {
		dbtest.Exec(t, db, d.SQL)
	}
	if a = access(t, worker, plan); len(a.Missing) != 0 {
		t.Fatal(a.Missing)
	}
	if err := live.Verify(t.Context(), worker, plan); err != nil {
		t.Error(err)
	}
	// It sees neither triggers nor tables on which it has no right, and says so.
	if len(a.Blind) != 2 || !strings.Contains(a.Blind[0].Text, "no right TRIGGER on project, project_archive") || !strings.Contains(a.Blind[1].Text, "a hidden ON DELETE CASCADE") {
		t.Error(a.Blind)
	}
	for _, p := range a.Needs {
		for _, right := range p.Rights {
			on := " ON `" + database + "`." + ident.Quote(p.Table)
			dbtest.Exec(t, db, "REVOKE "+right+on+" FROM "+a.User)
			found := access(t, worker, plan).Missing
			if len(found) != 1 || found[0].Table != p.Table || found[0].Fix != "GRANT "+right+on+" TO "+a.User {
				t.Errorf("without %s%s: %v", right, on, found)
			}
			dbtest.Exec(t, db, "GRANT "+right+on+" TO "+a.User)
		}
	}
	dbtest.Exec(t, db, "GRANT TRIGGER ON `"+database+"`.* TO "+a.User)
	if a := access(t, livetest.Reopen(t, name, database), plan); len(a.Blind) != 0 {
		t.Error(a.Blind)
	}
}

// TestPrivilegesByOtherWays: rights come from grants on columns, from a role, from the database.
func TestPrivilegesByOtherWays(t *testing.T) {
	db := livetest.Bare(t,
		"CREATE TABLE a (id INT PRIMARY KEY, note TEXT)",
		"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL, more TEXT, FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE SET NULL)")
	plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	missing := func(db *sql.DB) []string {
		var lines []string
		for _, d := range access(t, db, plan).Missing {
			if !strings.HasPrefix(d.Table, "onerow_") {
				rights, _, _ := strings.Cut(strings.TrimPrefix(d.Fix, "GRANT "), " ON ")
				lines = append(lines, d.Table+": "+rights)
			}
		}
		return lines
	}
	for _, c := range []struct {
		name   string
		grants []string
		want   []string
	}{
		{"columns", []string{"GRANT SELECT (id), DELETE ON %d.a TO %u", "GRANT SELECT (id, a_id), UPDATE (a_id) ON %d.b TO %u"}, nil},
		{"other columns", []string{"GRANT SELECT (note), DELETE ON %d.a TO %u", "GRANT SELECT (id, a_id), UPDATE (more) ON %d.b TO %u"}, []string{"a: SELECT", "b: UPDATE (`a_id`)"}},
		{"role", []string{"CREATE ROLE %r", "GRANT SELECT, DELETE ON %d.a TO %r", "GRANT SELECT, UPDATE ON %d.b TO %r", "GRANT %r TO %u", "SET DEFAULT ROLE %r FOR %u"}, nil},
		{"role that is not active", []string{"CREATE ROLE %r", "GRANT SELECT, DELETE ON %d.a TO %r", "GRANT %r TO %u", "GRANT SELECT ON %d.b TO %u"}, []string{"a: SELECT, DELETE", "b: UPDATE (`a_id`)"}},
		{"database", []string{"GRANT SELECT, UPDATE, DELETE ON %d.* TO %u"}, nil},
		{"read only", []string{"GRANT SELECT ON %d.* TO %u"}, []string{"a: DELETE", "b: UPDATE (`a_id`)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			grants := slices.Clone(c.grants)
			if dbtest.Server(t).Engine() == "MySQL" {
				for i := range grants { // the engines disagree on these words
					grants[i] = strings.ReplaceAll(grants[i], "SET DEFAULT ROLE %r FOR %u", "SET DEFAULT ROLE %r TO %u")
				}
			}
			as, _, _ := livetest.User(t, db, strings.ReplaceAll(c.name[:3], " ", ""), grants...)
			if got := missing(as); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestHiddenFromTheUser: what a worker's user is not shown is said, not passed over.
func TestHiddenFromTheUser(t *testing.T) {
	db := livetest.Bare(t,
		"CREATE TABLE a (id INT PRIMARY KEY)",
		"CREATE TABLE hidden (id INT PRIMARY KEY, a_id INT, FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE CASCADE)",
		"CREATE TRIGGER tr BEFORE DELETE ON a FOR EACH ROW SET @x = 1")
	plan := schema.Plan{Tables: []schema.Table{{Name: "a", Key: []string{"id"}}}}
	if found := livetest.Own(t, db, plan); len(found) != 2 {
		t.Error(found)
	}
	as, _, _ := livetest.User(t, db, "h", "GRANT SELECT, DELETE ON %d.a TO %u")
	if a := access(t, as, plan); len(a.Blind) != 2 {
		t.Errorf("%+v", a)
	}
}

// TestPrivilegesOfMovingTimes: who keeps what rows were may also hold their times that change by themselves; without a
// trash a right on the reference is enough.
func TestPrivilegesOfMovingTimes(t *testing.T) {
	db := livetest.Bare(t,
		"CREATE TABLE a (id INT PRIMARY KEY)",
		"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL, moved TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE SET NULL)")
	plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ofB := func(db *sql.DB) (fixes []string) {
		for _, d := range access(t, db, plan).Missing {
			if d.Table == "b" {
				fixes = append(fixes, strings.Split(d.Fix, " ON ")[0])
			}
		}
		return fixes
	}
	worker, _, _ := livetest.User(t, db, "w", "GRANT SELECT, DELETE, UPDATE (a_id) ON %d.b TO %u")
	if got := ofB(worker); len(got) != 0 {
		t.Errorf("without a trash it is told %q", got)
	}
	plan.Trash = schema.Age(time.Hour)
	if got := ofB(worker); !slices.Equal(got, []string{"GRANT UPDATE"}) {
		t.Errorf("with a trash it is told %q", got)
	}
}
