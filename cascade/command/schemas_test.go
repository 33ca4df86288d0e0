package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// namedRoot is a root as a person names it: the resource, and the key, which is that of the
// row where a column has a value.
type namedRoot struct{ resource, column, value string }

// deletions of each schema, small ones first, for each is made on what the last one left.
var deletions = map[string][]namedRoot{
	"dvd": {
		{"film_actor", "film_id", "9"},
		{"rental", "rental_id", "17"},
		{"film", "film_id", "7"},
		{"customer", "customer_id", "11"},
		{"actor", "actor_id", "3"},
		{"staff", "staff_id", "4"}, // manages store 2
		{"store", "store_id", "1"}, // store 3 has its manager from there
		{"language", "language_id", "1"},
		{"country", "country_id", "5"},
	},
	"music": {
		{"playlist_track", "playlist_id", "2"},
		{"share_visit", "country", "CH"},
		{"playlist_share", "playlist_id", "3"},
		{"royalty", "quarter", "2003-04-01"},
		{"track_file", "track_id", "12"},
		{"genre", "genre_id", "4"},
		{"customer", "customer_id", "2"},
		{"artist", "artist_id", "5"},
		{"employee", "employee_id", "3"}, // in the middle of the tree
		{"playlist", "playlist_id", "1"},
		{"media_type", "media_type_id", "2"},
	},
	"hr": {
		{"history_notes", "line", "-1"},
		{"job_history", "start_date", "1991-09-21"},
		{"badges", "employee_id", "107"},
		{"employees", "employee_id", "131"},
		{"departments", "department_id", "120"},
		{"jobs", "job_id", "O'JOB\\%"},
		{"locations", "location_id", "1004"},
		{"countries", "country_id", "JP"},
		{"regions", "region_id", "1"},
	},
}

// broken are the loops of each schema: the edge that leads back, and cannot be followed.
var broken = map[string]struct{ table, column string }{
	"dvd": {"store", "manager_staff_id"},
	"hr":  {"departments", "manager_id"},
}

// TestSchemasOfOthers: discover, verify, plan, enqueue and drain on schemas that somebody
// else might have designed. Brute force says which rows must go; nothing else may change.
func TestSchemasOfOthers(t *testing.T) {
	for _, f := range schematest.Fixtures() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			w := empty(t)
			if err := f.Load(t.Context(), w.db); err != nil {
				t.Fatal(err)
			}
			w.ok("migrate", "up")
			w.write(w.plan, w.ok("discover", "--root", strings.Join(f.Roots, ",")))
			w.want(0, "ok: ", "verify")
			w.breaks(broken[f.Name].table, broken[f.Name].column)
			for _, d := range deletions[f.Name] {
				w.remove(d)
			}
		})
	}
}

// breaks fails unless the plan detaches at this column and at those that a foreign key sets
// to NULL, and nowhere else.
func (w *world) breaks(table, column string) {
	w.t.Helper()
	keys, err := schematest.ForeignKeys(w.t.Context(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range w.planned().Nodes() {
		for _, e := range n.Parents {
			want := schema.OnDeleteDelete
			for _, k := range keys {
				if k.Child == n.Name && slices.Equal(k.Columns, e.Columns) && (k.Rule == "SET NULL" || n.Name == table && e.Columns[0] == column) {
					want = schema.OnDeleteDetach
				}
			}
			if e.OnDelete != want {
				w.t.Errorf("%s %q → %s: %s, want %s", n.Name, e.Columns, e.Table, e.OnDelete, want)
			}
		}
	}
}

// planned is the plan as the command reads it.
func (w *world) planned() schema.Plan {
	w.t.Helper()
	text, err := os.ReadFile(w.plan)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := planfile.Parse(w.plan, text)
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// remove deletes a row and what is below it, and compares each step with the checker.
func (w *world) remove(d namedRoot) {
	t := w.t
	t.Helper()
	before, err := schematest.Read(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	key, ok := before[d.resource].Find(d.column, d.value)
	if !ok {
		t.Errorf("there is no %s with %s %s any more", d.resource, d.column, d.value)
		return
	}
	want, err := schematest.Expect(t.Context(), w.db, before, w.planned(), d.resource, key...)
	if err != nil {
		t.Fatal(err)
	}
	id := typed(key)
	var estimate struct{ Tables map[string]int64 }
	if err := json.Unmarshal([]byte(w.ok("plan", d.resource, id, "--json")), &estimate); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(estimate.Tables, func(_ string, rows int64) bool { return rows == 0 })
	if !maps.Equal(estimate.Tables, want.Deleted) {
		t.Errorf("%s %q: the plan says %v, the checker %v", d.resource, key, estimate.Tables, want.Deleted)
	}
	w.want(0, "queued", "enqueue", d.resource, id)
	w.want(0, "1 job done", "drain")
	lines, err := want.Compare(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		t.Errorf("%s %q: %s", d.resource, key, line)
	}
	below := maps.Clone(want.Deleted) // the root does not count here
	if below[d.resource]--; below[d.resource] == 0 {
		delete(below, d.resource)
	}
	if jobs := w.jobs(); len(jobs) != 1 || jobs[0].State != queue.Done || !maps.Equal(jobs[0].Tables, below) {
		t.Errorf("%s %q: the job says %+v, the checker %v", d.resource, key, jobs, below)
	}
	t.Logf("%s %q: deleted %v, detached %v", d.resource, key, want.Deleted, want.Detached)
}

// jobs is the last job.
func (w *world) jobs() (jobs []queue.Job) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.ok("jobs", "--json", "--limit", "1")), &jobs); err != nil {
		w.t.Fatal(err)
	}
	return jobs
}

// typed is the key as a person types it: bytes that are no text in hexadecimal.
func typed(key []string) string {
	parts := slices.Clone(key)
	for i, part := range parts {
		if !utf8.ValidString(part) || strings.Contains(part, "\x00") {
			parts[i] = fmt.Sprintf("0x%x", part)
		}
	}
	return strings.Join(parts, ",")
}
