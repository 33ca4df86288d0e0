package catalog_test

import (
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// TestChanges: each kind of difference has its words, and what is the same has none.
func TestChanges(t *testing.T) {
	db := dbtest.Open(t)
	for _, stmt := range []string{"CREATE TABLE post (id INT PRIMARY KEY, kind INT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE note (id INT PRIMARY KEY, post_id INT NULL, file VARCHAR(200) COLLATE utf8mb4_bin NULL, KEY (post_id), KEY (file), CONSTRAINT below FOREIGN KEY (post_id) REFERENCES post (id)) ENGINE=InnoDB"} {
		dbtest.Exec(t, db, stmt)
	}
	describe := func(change func(note *schema.Table)) string {
		note := schema.Table{Name: "note", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{{Table: "post", Columns: []string{"post_id"}}}}
		change(&note)
		plan := schema.Plan{Tables: []schema.Table{{Name: "post", Key: []string{"id"}}, note}}
		cat, err := catalog.Read(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		return cat.Describe(plan)
	}
	as := func(*schema.Table) {}
	before := describe(as)
	if got := catalog.Changes(before, describe(as)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		change func(*schema.Table)
		stmts  []string
		want   []string
	}{
		{as, []string{"ALTER TABLE note MODIFY file VARCHAR(100) COLLATE utf8mb4_bin NOT NULL"}, []string{"table note: column file is now varchar(100) utf8mb4_bin NOT NULL, was varchar(200) utf8mb4_bin NULL"}},
		{as, []string{"ALTER TABLE note MODIFY file VARCHAR(200) COLLATE utf8mb4_bin NULL", "CREATE TRIGGER keep BEFORE DELETE ON note FOR EACH ROW SET @x = 1"}, []string{"table note: the trigger keep BEFORE DELETE is new"}},
		{as, []string{"DROP TRIGGER keep", "ALTER TABLE note DROP FOREIGN KEY below"}, []string{`the foreign key .note ["post_id"] > .post ["id"] RESTRICT RESTRICT is gone`}},
		{as, []string{"ALTER TABLE note ADD CONSTRAINT below FOREIGN KEY (post_id) REFERENCES post (id)"}, nil},
		{func(n *schema.Table) { n.Asset = "" }, nil, []string{`the plan: asset of note is now "", was "file"`, "table note: column file is gone, or not shown to this user"}},
		{func(n *schema.Table) { n.Parents[0].OnDelete = schema.OnDeleteDetach }, nil, []string{"the plan: the edge note (post_id) → post (id) is now on_delete: detach, was on_delete: delete"}},
		{func(n *schema.Table) {
			n.Parents = append(n.Parents, schema.Edge{Table: "note", Columns: []string{"id"}, When: map[string]string{"file": "x"}})
		}, nil, []string{`the plan: the edge note (id) → note (id) where file is "x" is new`}},
		{func(n *schema.Table) { n.Name = "comment" }, nil, []string{"the plan: comment is new", "the plan: note is not in it any more"}},
	} {
		for _, stmt := range c.stmts {
			dbtest.Exec(t, db, stmt)
		}
		if got := catalog.Changes(before, describe(c.change)); !slices.Equal(got, c.want) && (len(c.want) != 2 || len(got) <= 2 || !slices.Equal(got[:2], c.want)) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, text := range []string{"", "x", "[]", "null"} {
		if got := catalog.Changes(text, before); text != "null" && len(got) > 0 {
			t.Errorf("of %q: %q", text, got)
		}
	}
}
