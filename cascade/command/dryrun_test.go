package command

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/deletion"
	"github.com/onerow/onerow/cascade/internal/output"
)

// designedPlan is of tables that somebody else designed.
const designedPlan = `
tables:
  - name: region
    key: [code]
  - name: city
    key: [region, since]
    parents: [{table: region, columns: [region]}]
  - name: note
    key: [id]
    asset: file
    parents:
      - {table: city, columns: [region, since]}
      - {table: region, columns: [about], when: {kind: region}}
      - {table: city, columns: [other_region, other_since], on_delete: detach}
`

// designed has the tables of designedPlan, with hostile keys.
func designed(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.write(w.plan, designedPlan)
	for _, statement := range []string{
		"CREATE TABLE region (code VARCHAR(30) PRIMARY KEY)",
		"CREATE TABLE city (region VARCHAR(30), since DATE, PRIMARY KEY (region, since))",
		`CREATE TABLE note (id BIGINT UNSIGNED PRIMARY KEY, region VARCHAR(30), since DATE, kind VARCHAR(9), about VARCHAR(30),
  other_region VARCHAR(30), other_since DATE, file VARCHAR(30), KEY (region, since), KEY (kind, about), KEY (other_region, other_since))`,
		`INSERT INTO region VALUES ('eu'), ('x''); DROP TABLE note; -- '), ('''a,b%'), ('42')`,
		`INSERT INTO city VALUES ('eu', '1993-09-21'), ('eu', '1994-01-01'), ('x''); DROP TABLE note; -- ', '2000-01-01'), ('''a,b%', '1999-12-31')`,
		`INSERT INTO note VALUES (1, 'eu', '1993-09-21', 'region', 'eu', NULL, NULL, 'a.png'), (2, NULL, NULL, 'region', 'eu', NULL, NULL, ''),
 (3, 'eu', '1994-01-01', NULL, NULL, NULL, NULL, NULL), (4, NULL, NULL, NULL, NULL, 'eu', '1993-09-21', 'x'),
 (18446744073709551615, 'gone', '2001-01-01', 'region', '''a,b%', NULL, NULL, NULL)`,
	} {
		w.exec(statement)
	}
	return w
}

// estimate runs plan --json.
func (w *world) estimate(args ...string) (e deletion.EstimateJSON) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.ok(append(append([]string{"plan"}, args...), "--json")...)), &e); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// TestPlan: the counts of what hangs below a row, as JSON and as a tree; nothing changes,
// and the toolkit's tables are not needed.
func TestPlan(t *testing.T) {
	w := designed(t)
	for _, c := range []struct {
		resource, id string
		root         bool
		tables       map[string]int64
		detached     map[string]int64
		assets       int64
	}{
		{"region", "eu", true, map[string]int64{"region": 1, "city": 2, "note": 3}, map[string]int64{"note": 1}, 1},
		{"region", "'eu", true, map[string]int64{"region": 1, "city": 2, "note": 3}, map[string]int64{"note": 1}, 1}, // encoded
		{"city", "eu,1993-09-21", true, map[string]int64{"city": 1, "note": 1}, map[string]int64{"note": 1}, 1},
		{"city", "'eu,'1993-09-21", true, map[string]int64{"city": 1, "note": 1}, map[string]int64{"note": 1}, 1},
		{"region", "x'); DROP TABLE note; -- ", true, map[string]int64{"region": 1, "city": 1}, map[string]int64{}, 0},
		{"region", "'%27a%2Cb%25", true, map[string]int64{"region": 1, "city": 1, "note": 1}, map[string]int64{}, 0},
		{"region", "42", true, map[string]int64{"region": 1}, map[string]int64{}, 0},
		{"note", "18446744073709551615", true, map[string]int64{"note": 1}, map[string]int64{}, 0},
		{"city", "gone,2001-01-01", false, map[string]int64{"note": 1}, map[string]int64{}, 0},
		{"region", "nowhere", false, map[string]int64{}, map[string]int64{}, 0},
	} {
		e := w.estimate(c.resource, c.id)
		if e.Root != c.root || !maps.Equal(e.Tables, c.tables) || !maps.Equal(e.Detached, c.detached) || e.Assets != c.assets || e.Batches != 1 || len(e.Capped) > 0 {
			t.Errorf("%s %s: %+v", c.resource, c.id, e)
		}
	}
	if out := w.ok("plan", "region", "nowhere", "--json"); !strings.Contains(out, `"capped": []`) || !strings.Contains(out, `"tables": {}`) {
		t.Error(out)
	}
	if e := w.estimate("region", "eu", "--limit", "1"); !slices.Equal(e.Capped, []string{"city", "note"}) || e.Tables["city"] != 1 || !slices.Equal(e.CappedDetached, []string{"note"}) {
		t.Errorf("%+v", e)
	}
	want := `region      1
├─ city     2
│  └─ note  3
└─ note     (counted above)

to be deleted: 6 rows in 3 tables, 1 asset, in about 1 batch
to be detached: 1 row of note
`
	if out := w.ok("plan", "region", "eu"); out != want {
		t.Errorf("%s\nwant %s", out, want)
	}
	if out := w.ok("plan", "region", "eu", "--limit", "1"); !strings.Contains(out, "≥ 1") || !strings.Contains(out, "perhaps rows of note") {
		t.Error(out)
	}
	w.want(0, "city gone,2001-01-01 is in no table; what is left below it", "plan", "city", "gone,2001-01-01")
	if n := w.number("SELECT (SELECT COUNT(*) FROM region) + (SELECT COUNT(*) FROM city) + (SELECT COUNT(*) FROM note)"); n != 13 {
		t.Errorf("%d rows", n)
	}
}

// TestPlanOfResources: pairs of tables.
func TestPlanOfResources(t *testing.T) {
	w := ready(t)
	below := w.fill(1, 4, 3)
	w.fill(2, 1, 1)
	e := w.estimate("project", "1")
	if want := map[string]int64{"project": 1, "screen": 2, "screen_archive": 2, "comment": 12}; !maps.Equal(e.Tables, want) || output.SumRows(e.Tables) != below+1 {
		t.Errorf("%+v", e)
	}
	w.want(0, "screen 2, screen_archive 2", "plan", "project", "1")
}

// TestPlanWrongInput: one clear line, with the key that is expected.
func TestPlanWrongInput(t *testing.T) {
	w := designed(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"plan"}, 2, "<resource>"},
		{[]string{"plan", "region"}, 2, "<id>"},
		{[]string{"plan", "planet", "1"}, 2, "region, city, note"},
		{[]string{"plan", "city", "eu"}, 2, "since (a date like 1993-09-21)"},
		{[]string{"plan", "city", "eu,1 OR 1=1"}, 2, "since (a date like 1993-09-21)"},
		{[]string{"plan", "note", "one"}, 2, "id (an integer)"},
		{[]string{"plan", "note", "1", "--limit", "0"}, 2, "--limit"},
		{[]string{"plan", "note", "1", "--limit", "many"}, 2, "--limit"},
	} {
		o := w.want(c.code, c.says, c.args...)
		if o.stdout != "" || !isOneLine(o.stderr) {
			t.Errorf("%q: %s", c.args, o)
		}
	}
	w.exec("ALTER TABLE note DROP KEY kind")
	w.want(1, "create it", "plan", "region", "eu")
	w.exec("DROP TABLE note")
	if o := w.want(1, "note", "plan", "region", "eu"); !isOneLine(o.stderr) {
		t.Error(o)
	}
	for _, command := range []string{"plan", "orphans", "undo"} {
		if out := w.ok(command, "--help"); !strings.HasPrefix(out, "Usage: cascade-worker "+command) || !strings.Contains(out, "Examples:") {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
}
