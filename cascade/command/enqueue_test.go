package command

import (
	"fmt"

	"strings"
	"syscall"
	"testing"
)

// TestEnqueueAnyKey: keys of any kind, typed or encoded, however hostile.
func TestEnqueueAnyKey(t *testing.T) {
	w := designed(t)
	w.ok("migrate", "up")
	w.want(0, "region eu is queued\n", "enqueue", "region", "eu")
	w.want(0, "was open for region eu already", "enqueue", "region", "'eu")
	w.want(0, "city eu,1993-09-21 is queued\n", "enqueue", "city", "eu,1993-09-21")
	w.want(0, "the row is not there, it is gone already", "enqueue", "city", "eu,1993-09-22")
	w.want(0, "is queued\n", "enqueue", "region", "x'); DROP TABLE note; -- ")
	w.want(0, "is queued\n", "enqueue", "region", "'%27a%2Cb%25")
	w.want(0, "is queued\n", "enqueue", "note", "18446744073709551615")
	w.want(0, "would be queued", "enqueue", "note", "1", "--dry-run")
	w.want(2, "since (a date like 1993-09-21)", "enqueue", "city", "eu")
	w.want(2, ": no key of note: \"abc\" is no integer; ", "enqueue", "note", "abc")
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM onerow_job": 6,
		`SELECT COUNT(*) FROM onerow_job WHERE resource = 'city' AND resource_id = '''eu,''1993-09-21'`:    1,
		`SELECT COUNT(*) FROM onerow_job WHERE resource = 'region' AND resource_id = '''%27a%2Cb%25'`:      1,
		`SELECT COUNT(*) FROM onerow_deletion WHERE owner IS NULL AND deleted_from = 'table'`:              6,
		`SELECT COUNT(*) FROM onerow_deletion WHERE owner IS NULL AND deleted_from = ''`:                   1,
		`SELECT COUNT(*) FROM onerow_job WHERE resource = 'note' AND resource_id = '18446744073709551615'`: 1,
	} {
		if got := w.number(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// TestEnqueueMany: by a condition and by a query, in pages, repeatable, with owner and
// place in the audit.
func TestEnqueueMany(t *testing.T) {
	w := ready(t)
	var values []string
	for id := range 1200 {
		values = append(values, fmt.Sprintf("(%d, %d, 'p%d', 'p%d', 'p%d', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id+1, id%3, id, id, id))
	}
	const columns = "(id, user_id, name, name_key, stem_key, created_at, updated_at"
	w.exec("INSERT INTO project " + columns + ") VALUES " + strings.Join(values, ", "))
	w.exec("INSERT INTO project_archive " + columns + ", archived_at, deletion_id) VALUES " +
		"(5000, 1, 'x', 'x', 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL), (5001, 1, 'y', 'y', 'y', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 77)")
	w.want(0, "402 rows of project; nothing was queued\n", "enqueue", "project", "--where", "t.user_id = 1", "--dry-run")
	if n := w.number("SELECT COUNT(*) FROM onerow_deletion"); n != 0 {
		t.Errorf("a dry run logged %d", n)
	}
	w.want(0, "402 jobs queued\n", "enqueue", "project", "--where", "t.user_id = 1 -- comment", "--grace", "1h")
	w.want(0, "0 jobs queued, 402 open already\n", "enqueue", "project", "--where", "user_id = 1;")
	w.want(0, "800 jobs queued, 402 open already\n", "enqueue", "project", "--where", "user_id = 5 OR 1 = 1")
	w.want(0, "0 jobs queued, 500 open already\n", "enqueue", "project", "--where", "t.id <= 500")
	w.exec("DELETE FROM onerow_job")
	// The condition is asked once: what is queued meanwhile does not change the answer.
	w.want(0, "1,202 jobs queued\n", "enqueue", "project", "--where", "NOT EXISTS (SELECT 1 FROM onerow_job)")
	w.exec("DELETE FROM onerow_job")
	w.want(0, "100 rows of project; nothing was queued\n", "enqueue", "project", "--query", "SELECT id FROM project ORDER BY id LIMIT 100", "--dry-run")
	w.want(0, "100 jobs queued\n", "enqueue", "project", "--query", "SELECT id FROM project ORDER BY id LIMIT 100;")
	w.want(0, "1,103 jobs queued, 100 open already\n", "enqueue", "project", "--query",
		"SELECT id FROM project UNION SELECT 9999 UNION ALL SELECT id FROM project_archive UNION ALL SELECT NULL # and more")
	w.want(0, "0 jobs queued\n", "enqueue", "project", "--where", "1 = 0")
	w.want(0, "0 jobs queued\n", "enqueue", "project", "--query", "SELECT 1 FROM project WHERE 1 = 0")
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM onerow_job":                                                                                             1203,
		"SELECT COUNT(*) FROM onerow_job WHERE resource_id = '5001' AND deletion_id = 77":                                             1,
		"SELECT COUNT(*) FROM onerow_deletion WHERE owner IS NULL AND deleted_from = '' AND resource_id = '9999'":                     1,
		"SELECT COUNT(*) FROM onerow_deletion WHERE owner = '1' AND deleted_from = 'operator' AND resource_id = '5000'":               5,
		"SELECT COUNT(*) FROM onerow_deletion WHERE NOT owner <=> CAST(IF(resource_id < 2000, (resource_id - 1) % 3, owner) AS CHAR)": 0,
	} {
		if got := w.number(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// TestEnqueueManyPages: pages go along a composite key, whose first column sorts by number and not by label.
func TestEnqueueManyPages(t *testing.T) {
	w := empty(t)
	w.write(w.plan, "tables: [{name: part, key: [size, n]}]")
	w.ok("migrate", "up")
	w.exec("CREATE TABLE part (size ENUM('small', 'large') NOT NULL, n INT NOT NULL, PRIMARY KEY (size, n))")
	for _, size := range []string{"small", "large"} {
		w.exec("INSERT INTO part WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 700) SELECT '" + size + "', n FROM s")
	}
	w.want(0, "1,400 jobs queued\n", "enqueue", "part", "--where", "1 = 1")
	w.want(0, "0 jobs queued, 1,400 open already\n", "enqueue", "part", "--query", "SELECT * FROM part")
}

// TestEnqueueManyOfTables: composite keys, in their order, and what is not a key.
func TestEnqueueManyOfTables(t *testing.T) {
	w := designed(t)
	w.ok("migrate", "up")
	w.want(0, "2 jobs queued\n", "enqueue", "city", "--where", "t.region = 'eu'")
	w.want(0, "2 jobs queued, 2 open already\n", "enqueue", "city", "--query", "SELECT * FROM city")
	w.want(0, "4 jobs queued\n", "enqueue", "region", "--where", "code IS NOT NULL")
	w.want(0, "1 job queued\n", "enqueue", "note", "--query", "SELECT MAX(id) FROM note")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"enqueue"}, 2, "<resource>"},
		{[]string{"enqueue", "city"}, 2, "--where"},
		{[]string{"enqueue", "city", "eu,1993-09-21", "--where", "1=1"}, 2, "exclude each other"},
		{[]string{"enqueue", "city", "--where", "1=1", "--query", "SELECT 1"}, 2, "exclude each other"},
		{[]string{"enqueue", "planet", "--where", "1=1"}, 2, "region, city, note"},
		{[]string{"enqueue", "city", "--where", "nothing = 1"}, 1, "0 jobs queued"},
		{[]string{"enqueue", "city", "--query", "SELECT region FROM city"}, 1, "0 jobs queued"},
		{[]string{"enqueue", "city", "--where", "1 = "}, 1, "safe to run the same command again"},
		{[]string{"enqueue", "note", "--query", "SELECT 'one'"}, 1, "0 jobs queued"},
		{[]string{"enqueue", "note", "--query", "SELECT '1 OR 1=1'", "--dry-run"}, 0, "1 row"},
		{[]string{"enqueue", "note", "--query", "SELECT '1) OR (1=1'"}, 1, "0 jobs queued"},
		{[]string{"enqueue", "city", "--where", "1=1", "--grace=-1s"}, 2, "--grace"},
	} {
		o := w.want(c.code, c.says, c.args...)
		if c.code != 0 && (o.stdout != "" || !isOneLine(o.stderr)) {
			t.Errorf("%q: %s", c.args, o)
		}
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 9 {
		t.Errorf("%d jobs", n)
	}
}

// TestEnqueueInterrupted: what somebody typed does not go on in the server after Ctrl-C.
func TestEnqueueInterrupted(t *testing.T) {
	w := ready(t)
	w.fill(1, 0, 0)
	const long = "BENCHMARK(100000000, SHA2('x', 256)) = 0"
	for _, args := range [][]string{
		{"enqueue", "project", "--where", long},
		{"enqueue", "project", "--where", long, "--dry-run"},
		{"enqueue", "project", "--query", "SELECT id FROM project WHERE " + long},
	} {
		d := w.start(args...)
		w.executing(1, "BENCHMARK")
		d.signal(syscall.SIGINT)
		if code, _ := d.wait(deadline); code != 1 || !strings.Contains(d.stderr.String(), "interrupted") {
			t.Errorf("%q: exit code %d: %s", args, code, d.stderr)
		}
		w.executing(0, "BENCHMARK")
	}
}
