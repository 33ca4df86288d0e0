package command

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
)

// rentalShop has every kind of foreign key, a name that must be quoted, and a loop.
var rentalShop = []string{
	"CREATE TABLE store (id INT PRIMARY KEY, `chief (of staff)` INT NULL)",
	"CREATE TABLE staff (id INT PRIMARY KEY, store_id INT NOT NULL, FOREIGN KEY (store_id) REFERENCES store (id) ON DELETE CASCADE)",
	"ALTER TABLE store ADD FOREIGN KEY (`chief (of staff)`) REFERENCES staff (id)",
	"CREATE TABLE `on` (staff_id INT, `to: {all}` VARCHAR(20), PRIMARY KEY (staff_id, `to: {all}`), FOREIGN KEY (staff_id) REFERENCES staff (id))",
	"CREATE TABLE audit (id INT PRIMARY KEY, staff_id INT NULL, FOREIGN KEY (staff_id) REFERENCES staff (id) ON DELETE SET NULL)",
}

// TestDiscoverCommand: what it prints is a plan, with comments, that verify accepts.
func TestDiscoverCommand(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	for _, stmt := range rentalShop {
		w.exec(stmt)
	}
	out := w.ok("discover", "--root", "store")
	for _, says := range []string{
		"# A plan for rows of store: 4 tables, 4 edges.", "the root's row goes last", "Until now the database refuses to delete a row that has one of these below it", "# (staff_id) → staff.\ntables:", "its loop is broken here",
		"  - name: \"on\"\n    key: [staff_id, \"to: {all}\"]\n    parents:\n      - {table: staff, columns: [staff_id]}\n",
		"      - {table: staff, columns: [\"chief (of staff)\"], on_delete: detach}\n", "    stays: true\n",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("it does not say %q:\n%s", says, out)
		}
	}
	w.write(w.plan, out)
	verified := w.ok("verify")
	for _, says := range []string{"ok: the database is as the plan declares it (4 tables, 4 edges)", "needs: SELECT, DELETE on on (proved)",
		"needs: SELECT, DELETE, UPDATE (`chief (of staff)`) on store (proved)", "needs: SELECT, UPDATE (`staff_id`) on audit (proved)"} {
		if !strings.Contains(verified, says) {
			t.Errorf("it does not say %q:\n%s", says, verified)
		}
	}
	if again := w.ok("discover", "--root", " store,store "); again != out {
		t.Errorf("another plan:\n%s", again)
	}
	if both := w.ok("discover", "--root", "store,audit"); strings.Contains(both, "stays") {
		t.Errorf("a root stays:\n%s", both)
	}
	// A schema that drifts is not as declared any more.
	w.exec("CREATE TABLE more (id INT PRIMARY KEY, staff_id INT, FOREIGN KEY (staff_id) REFERENCES staff (id) ON DELETE CASCADE)")
	if o := w.run("verify"); o.code != 1 || !strings.Contains(o.stdout, `rows of "more" refer to it by (staff_id), and the plan does not know that table; ON DELETE CASCADE changes them`) {
		t.Error(o)
	}
}

func TestDiscoverRefuses(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	w.exec("CREATE TABLE customer (id INT PRIMARY KEY)")
	w.exec("CREATE TABLE line (customer_id INT NOT NULL, FOREIGN KEY (customer_id) REFERENCES customer (id))")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"discover", 2, "--root"},
		{"discover --root ,", 2, "names no table"},
		{"discover --root onerow_job", 1, `"onerow_job" is one of the toolkit's own`},
		{"discover --root custmer", 2, `unknown table: "custmer"`},
		{"discover --root customer", 1, `table "line": it has no primary key`},
	} {
		if o := w.run(strings.Fields(c.args)...); o.code != c.code || o.stdout != "" || !isOneLine(o.stderr) || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: %s", c.args, o)
		}
	}
	w.exec("DROP TABLE line")
	if out := w.ok("discover", "--root", "customer"); !strings.Contains(out, "1 table, 0 edges") {
		t.Error(out)
	}
	if out := w.ok("discover", "--help"); !strings.Contains(out, "Examples:") {
		t.Error(out)
	}
}

// TestGrants: with what --grants prints, and nothing else, a user works the queue; and
// verify proves it.
func TestGrants(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	for _, stmt := range rentalShop {
		w.exec(stmt)
	}
	w.write(w.plan, w.ok("discover", "--root", "store"))
	for _, stmt := range []string{"INSERT INTO store VALUES (1, NULL), (2, NULL)", "INSERT INTO staff VALUES (1, 1), (2, 2)", "UPDATE store SET `chief (of staff)` = id",
		"INSERT INTO `on` VALUES (1, 'x'), (2, 'y')", "INSERT INTO audit VALUES (1, 1), (2, 2)"} {
		w.exec(stmt)
	}
	name := "g" + strings.TrimPrefix(w.cfg.DBName, "onerow_t")
	user := fmt.Sprintf("'%s'@'%%'", name)
	w.exec("CREATE USER " + user + " IDENTIFIED BY 'least'")
	root := dbtest.Server(t).Config(w.cfg.DBName)
	t.Cleanup(func() {
		if _, err := dbtest.OpenDSN(t, root.FormatDSN()).ExecContext(context.Background(), "DROP USER "+user); err != nil {
			t.Error(err)
		}
	})
	asWorker := &world{t: t, cfg: w.cfg, plan: w.plan, env: append(append([]string{}, w.env...), shell.EnvDSN+"="+fmt.Sprintf("%s:least@tcp(%s)/%s", name, w.cfg.Addr, w.cfg.DBName))}
	w.exec("GRANT SELECT ON audit TO " + user)
	if o := asWorker.run("verify"); o.code != 1 || !strings.Contains(o.stdout, "GRANT SELECT, DELETE ON `"+w.cfg.DBName+"`.`on` TO "+user) {
		t.Fatal(o)
	}
	for _, stmt := range strings.Split(strings.TrimSpace(w.ok("verify", "--grants", name+"@%")), "\n") {
		w.exec(strings.TrimSuffix(stmt, ";"))
	}
	out := asWorker.ok("verify")
	if !strings.Contains(out, "ok: ") || !strings.Contains(out, "not seen: ") {
		t.Error(out)
	}
	for _, args := range []string{"enqueue store 1", "drain", "jobs", "verify"} {
		asWorker.ok(strings.Fields(args)...)
	}
	if n := w.number("SELECT (SELECT COUNT(*) FROM store WHERE id = 1) + (SELECT COUNT(*) FROM staff WHERE id = 1) + (SELECT COUNT(*) FROM `on` WHERE staff_id = 1)"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if n := w.number("SELECT COUNT(*) FROM audit WHERE id = 1 AND staff_id IS NULL OR id = 2 AND staff_id = 2"); n != 2 {
		t.Error("the audit is not detached")
	}
	if o := w.run("verify", "--grants", "@%"); o.code != 2 {
		t.Error(o)
	}
}

// TestDiscoverProposes: what it proposes is a plan when it is uncommented, and what is declared is one at once.
func TestDiscoverProposes(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	w.exec("CREATE TABLE hosts (hostid INT PRIMARY KEY)")
	w.exec("CREATE TABLE items (itemid INT PRIMARY KEY, hostid INT NOT NULL, KEY (hostid))")
	w.exec("CREATE TABLE `on values` (id INT PRIMARY KEY, itemid INT NOT NULL, KEY (itemid))")
	w.exec("INSERT INTO hosts VALUES (1)")
	w.exec("INSERT INTO items VALUES (1, 1), (2, 7)")
	out := w.ok("discover", "--root", "hosts")
	for _, says := range []string{"likely by name and type: 2 references", "#~  - name: items\n#~    key: [itemid]\n#~    parents:\n#~      - {table: hosts, columns: [hostid]} # its name says host; 1 of 2 values are there\n",
		"#~  - name: \"on values\"\n", "the table is empty"} {
		if !strings.Contains(out, says) {
			t.Errorf("it does not say %q:\n%s", says, out)
		}
	}
	w.write(w.plan, strings.ReplaceAll(out, "#~", ""))
	if o := w.ok("verify"); !strings.Contains(o, "3 tables, 2 edges") {
		t.Error(o)
	}
	declared := w.ok("discover", "--root", "hosts", "--soft", "hostid=hosts,itemid=items.itemid")
	w.write(w.plan, declared)
	if o := w.ok("verify"); !strings.Contains(o, "3 tables, 2 edges") || strings.Contains(declared, "#~") || !strings.Contains(declared, "Declared, without a foreign key: items.hostid → hosts.") {
		t.Error(o, declared)
	}
	w.want(2, "write column=table", "discover", "--root", "hosts", "--soft", "hostid")
	w.want(2, "unknown table", "discover", "--root", "hosts", "--soft", "hostid=host")
}

// TestPlanText: names of any kind come back as they were.
func TestPlanText(t *testing.T) {
	var plan schema.Plan
	for _, name := range []string{"a", "null", "Yes", "1", "1e3", "a b", "a: b", "#a", "- a", "{a}", `"a"`, `a\b`, "ä€", "'", "true", "~", "a#b", "*a", "&a", "!a", "%a", "@a", "[", "?", "<<", "="} {
		plan.Tables = append(plan.Tables, schema.Table{Name: name, Key: []string{name, "x" + name}, Parents: []schema.Edge{{Table: name, Columns: []string{name + "y", name + "z"}}}})
	}
	text := tables.PlanText(plan, []string{"a\nb"}, []live.Note{{Table: "a b", Text: "one\ntables: [] " + strings.Repeat("word ", 60)}, {Text: "- name: x"}}, nil)
	got, err := planfile.Parse("printed", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if fmt.Sprint(got) != fmt.Sprint(plan) {
		t.Errorf("%v\nwant %v", got, plan)
	}
}

// TestDiscoverExtends: a plan that a person has worked on stays as it is, byte for byte, and what the schema has
// more is put into it, whatever the form of its lists; a plan that lacks nothing is printed as it is.
func TestDiscoverExtends(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	for _, statement := range rentalShop {
		w.exec(statement)
	}
	const person = `# mine, ä
trash: 30d
tables:
  - name: store # the root
    key: [id]
    retention: {column: "closed_at", keep: 90d}
    parents:
        - {table: staff, columns: ["chief (of staff)"], on_delete: detach} # the chief
        # nobody else
  - {name: staff, key: [id], trash: none, parents: [{table: store, columns: [store_id]}]}
  - name: audit
    key:
      - id
    # its rows go, too
    parents: [
      {table: staff, columns: [staff_id]},
    ]
  - {name: "on", key: [staff_id, "to: {all}"], parents: [{table: staff, columns: [staff_id]}]}
`
	w.write(w.plan, person)
	if o := w.want(0, "nothing is new: the plan has every foreign key\n", "discover", "--plan", w.plan); o.stdout != person {
		t.Error(o)
	}
	for _, statement := range []string{
		"ALTER TABLE store ADD boss INT NULL, ADD region_id INT NULL, ADD FOREIGN KEY (boss) REFERENCES staff (id)",
		"ALTER TABLE audit ADD store_id INT NULL, ADD FOREIGN KEY (store_id) REFERENCES store (id)",
		"ALTER TABLE `on` ADD audit_id INT NULL, ADD FOREIGN KEY (audit_id) REFERENCES audit (id) ON DELETE SET NULL",
		"CREATE TABLE line (id INT PRIMARY KEY, audit_id INT NOT NULL, FOREIGN KEY (audit_id) REFERENCES audit (id))",
		"CREATE TABLE visit (id INT PRIMARY KEY, store_id INT NOT NULL, KEY (store_id))",
		"CREATE TABLE region (id INT PRIMARY KEY)",
	} {
		w.exec(statement)
	}
	o := w.want(0, "new: 2 tables, 5 edges; 1 edge proposed, in the lines with #~\n", "discover", "--plan", w.plan, "--root", "region", "--soft", "region_id=region")
	for _, says := range []string{
		"        # nobody else\n", "# the chief\n        - {table: staff, columns: [boss], on_delete: detach}\n        - {table: region, columns: [region_id]}\n",
		"    parents: [\n      {table: staff, columns: [staff_id]},\n    {table: store",
	} {
		if !strings.Contains(o.stdout, says) {
			t.Errorf("it does not say %q:\n%s", says, o)
		}
	}
	w.write(w.plan, o.stdout)
	if again := w.want(0, "nothing is new", "discover", "--plan", w.plan); again.stdout != o.stdout {
		t.Error(again)
	}
	// A key's columns in another order are the same edge; a proposal for a list in brackets is a comment.
	w.exec("CREATE TABLE plot (id INT PRIMARY KEY, s INT, t VARCHAR(20), store_id INT, KEY (store_id), FOREIGN KEY (s, t) REFERENCES `on` (staff_id, `to: {all}`))")
	w.write(w.plan, strings.Replace(o.stdout, "  - name: region\n", "  - {name: plot, key: [id], parents: [{table: \"on\", columns: [t, s], references: [\"to: {all}\", staff_id]}]}\n  - name: region\n", 1))
	again := w.want(0, "nothing is new: the plan has every foreign key; 2 edges proposed", "discover", "--plan", w.plan)
	if !strings.Contains(again.stdout, "\n#~ # for parents of plot: {table: store, columns: [store_id]} # its name says store") {
		t.Error(again)
	}
	w.exec("DROP TABLE plot")
	w.write(w.plan, "# all in one line\ntables: [{name: store, key: [id]}]\n")
	w.want(2, "write its lists with one entry on a line", "discover", "--plan", w.plan)
	w.write(w.plan, "resources: [{name: project}]\n")
	if o := w.want(2, `"project"`, "discover", "--plan", w.plan, "--root", "line"); !strings.Contains(o.stderr, "has none that this user may see") {
		t.Error(o)
	}
	w.createTables()
	w.exec("CREATE TABLE pin (id INT PRIMARY KEY, project_id BIGINT NOT NULL, FOREIGN KEY (project_id) REFERENCES project (id))")
	if o := w.want(0, "new: 2 tables, 1 edge", "discover", "--plan", w.plan, "--root", "line"); !strings.Contains(o.stdout, "resources: [{name: project}]\ntables:\n  - name: line\n    key: [id]\n  - name: pin\n") {
		t.Error(o)
	}
}
