package schematest

import (
	"database/sql"
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// TestSameSeed: a seed makes the same world.
func TestSameSeed(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Generate(seed), Generate(seed)
		if a.String() != b.String() {
			t.Fatalf("two worlds of one seed:\n%s\n%s", a, b)
		}
		if err := a.Plan().Check(); err != nil {
			t.Errorf("%v\n%s", err, a)
		}
		root, ok, err := a.Root()
		again, _, _ := b.Root() //nolint:errcheck // as that of a
		if err != nil || ok && root.String() != again.String() {
			t.Errorf("seed %d: %s and %s, %v", seed, root, again, err)
		}
	}
}

// TestGeneratorIsRich: within two hundred seeds there is everything that a cascade can meet.
func TestGeneratorIsRich(t *testing.T) {
	seen := map[string]int{}
	note := func(what string, is bool) {
		if is {
			seen[what]++
		} else if seen[what] == 0 {
			seen[what] = 0
		}
	}
	for seed := range uint64(200) {
		w := Generate(seed)
		for _, n := range w.nodes {
			note("archive", len(n.tables) > 1)
			note("composite key", len(n.key) > 1)
			note("long key", len(n.key) > 2)
			note("no number as key", !n.column(n.key[0]).kind.number)
			note("diamond", len(n.edges) > 1)
			for _, e := range n.edges {
				note("self-reference", e.parent == n && e.action == schema.OnDeleteDelete)
				note("cycle", e.back)
				note("polymorphic", e.when != nil)
				note("two conditions", len(e.when) > 1)
				note("detach", e.action == schema.OnDeleteDetach)
				note("partly detached", e.action == schema.OnDeleteDetach && len(n.cleared(e)) < len(e.columns))
				note("mark", e.action.Mark() != "")
				note("keep", e.action == schema.OnDeleteKeep)
				note("foreign key", e.rule != "")
				note("no foreign key", e.rule == "")
				note("CASCADE", e.rule == "CASCADE")
				note("SET NULL", e.rule == "SET NULL")
				note("not the primary key", !slices.Equal(e.references, e.parent.key))
				note("identifying", e.parent != n && slices.Contains(n.key, e.columns[0]) && e.columns[0] != tenantColumn)
				for _, r := range n.rows {
					up := r.up[e]
					note("row that refers to itself", up == r)
					note("NULL", up == nil && r.values[e.columns[len(e.columns)-1]] == nil)
					note("dangling", up == nil && r.values[e.columns[len(e.columns)-1]] != nil)
					note("loop of two", e.parent == n && up != nil && up != r && up.up[e] == r)
				}
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d %s", seen[what], what)
		if seen[what] < 10 {
			t.Errorf("%d times %s", seen[what], what)
		}
	}
}

// TestModelAgainstChecker: what follows pointers and what joins tables expect the same.
func TestModelAgainstChecker(t *testing.T) {
	db := dbtest.Open(t)
	for seed := range uint64(30) {
		w := Generate(seed)
		against(t, db, w)
		if err := w.Drop(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatal(w)
		}
	}
}

func against(t *testing.T, db *sql.DB, w *World) {
	t.Helper()
	if err := w.Create(t.Context(), db); err != nil {
		t.Fatalf("%v\n%s", err, w)
	}
	created, err := Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := w.Expect(created); err != nil || len(Diff(created, kept)) > 0 {
		t.Fatalf("%v %q", err, Diff(created, kept))
	}
	root, ok, err := w.Root()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var key []string
	c := created[root.row.table]
	for _, r := range c.Rows {
		if r[slices.Index(c.Columns, numberColumn)].String == root.number() {
			for _, k := range root.node.key {
				key = append(key, r[slices.Index(c.Columns, k)].String)
			}
		}
	}
	e, err := Expect(t.Context(), db, created, w.Plan(), root.Resource, key...)
	if err != nil {
		t.Fatalf("%s: %v", root, err)
	}
	o := w.Delete(root)
	o.Deleted[root.row.table]++
	if !maps.Equal(o.Deleted, e.Deleted) || !maps.Equal(o.Detached, e.Detached) {
		t.Errorf("%s: the model deletes %v and detaches %v, the checker %v and %v", root, o.Deleted, o.Detached, e.Deleted, e.Detached)
	}
	after, err := w.Expect(created)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range Diff(e.After, after) {
		t.Errorf("%s: %s", root, line)
	}
}
