package repo_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestMoveTables: what is below and stores what would change keeps the row where it is, by the plan.
func TestMoveTables(t *testing.T) {
	s := scopedShape()
	o := s.open(t)
	ctx := t.Context()
	tickets := typed[Scoped, uuid.UUID, Workspace](o.tickets)
	id := o.create(t, 1, workspace(1), "A").(uuid.UUID)
	to := func(w Workspace) func(*Scoped) error {
		return func(row *Scoped) error { row.TenantID, row.WorkspaceID = w.Tenant, w.ID; return nil }
	}
	var refused *repo.ChildrenError
	_, err := tickets.Move(ctx, o.db, id, to(workspace(2)))
	if !errors.As(err, &refused) || !errors.Is(err, repo.ErrChildrenStoreOwner) || !slices.Equal(refused.Tables, []string{"message", "message_archive"}) ||
		!slices.Equal(refused.Columns, []string{"tenant_id"}) {
		t.Errorf("to another tenant: %v", err)
	}
	if row := must(tickets.Get(ctx, o.db, id)); row.TenantID != 1 {
		t.Errorf("it was moved: %+v", row)
	}
	res, err := tickets.Move(ctx, o.db, id, to(Workspace{1, uid(7)}))
	if err != nil || !res.Changed || res.Row.WorkspaceID != uid(7) {
		t.Errorf("within its tenant: %+v, %v", res, err)
	}
}

// TestMoveStored: which tables keep a row where it is.
func TestMoveStored(t *testing.T) {
	type Row struct {
		ID        int64  `db:"id"`
		UserID    int64  `db:"user_id"`
		ProjectID int64  `db:"project_id"`
		Name      string `db:"name"`
	}
	owned := func(r schema.Resource) schema.Resource { r.Owner = "user_id"; return r }
	below := func(name, parent, column string) schema.Resource {
		return schema.Resource{Name: name, Parent: schema.Parent{Resource: parent, Column: column}}
	}
	edge := func(table, column string) schema.Edge { return schema.Edge{Table: table, Columns: []string{column}} }
	user := func(r *Row) { r.UserID = 2 }
	project := func(r *Row) { r.ProjectID = 2 }
	for name, c := range map[string]struct {
		plan schema.Plan
		to   func(*Row)
		want []string
	}{
		"nothing": {schema.Plan{}, user, nil},
		"a child": {schema.Plan{Resources: []schema.Resource{owned(below("note", "folder", "folder_id"))}}, user, []string{"note"}},
		"a grandchild, and its archive": {schema.Plan{Resources: []schema.Resource{below("note", "folder", "folder_id"),
			func() schema.Resource {
				r := owned(below("tag", "note", "note_id"))
				r.Archive = "tag_archive"
				return r
			}()}}, user, []string{"tag", "tag_archive"}},
		"not of another column": {schema.Plan{Resources: []schema.Resource{owned(below("note", "folder", "folder_id"))}}, project, nil},
		"the parent, as an owner": {schema.Plan{Resources: []schema.Resource{func() schema.Resource {
			r := below("note", "folder", "folder_id")
			r.Owner = "project_id"
			return r
		}()}}, project, []string{"note"}},
		"not a key that is called the same": {schema.Plan{Resources: []schema.Resource{owned(below("note", "folder", "user_id"))}}, user, nil},
		"over a further edge": {schema.Plan{Resources: []schema.Resource{func() schema.Resource {
			r := owned(schema.Resource{Name: "note", Columns: []schema.Column{{Name: "folder_id", Type: "BIGINT NULL"}}})
			r.Parents = []schema.Edge{edge("folder", "folder_id")}
			return r
		}()}}, user, []string{"note"}},
		"not where it is kept": {schema.Plan{Resources: []schema.Resource{func() schema.Resource {
			r := owned(schema.Resource{Name: "note", Columns: []schema.Column{{Name: "folder_id", Type: "BIGINT NULL"}}})
			e := edge("folder", "folder_id")
			e.OnDelete = schema.OnDeleteKeep
			r.Parents = []schema.Edge{e}
			return r
		}()}}, user, nil},
		"a reference to it": {schema.Plan{Tables: []schema.Table{{Name: "file", Key: []string{"id"}, Parents: []schema.Edge{
			{Table: "folder", Columns: []string{"owner", "folder"}, References: []string{"user_id", "id"}}}}}}, user, []string{"file"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := schema.Plan{Tables: c.plan.Tables, Resources: append([]schema.Resource{owned(schema.Resource{Name: "project"}), func() schema.Resource {
				r := owned(below("folder", "project", "project_id"))
				r.Label = schema.Label{Column: "name"}
				return r
			}()}, c.plan.Resources...)}
			db := open(t)
			for _, table := range []string{"project", "project_archive"} {
				dbtest.Exec(t, db, "DROP TABLE "+table)
			}
			for _, stmt := range p.DDL()[:2] {
				dbtest.Exec(t, db, stmt)
			}
			dbtest.Exec(t, db, "INSERT INTO project (id, user_id, created_at, updated_at) VALUES (1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (2, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
			folders := must(repo.New[Row](p, "folder"))
			id := must(folders.Create(t.Context(), db, Row{UserID: 1, ProjectID: 1, Name: "f"})).Row.ID
			res, err := folders.Move(t.Context(), db, id, func(r *Row) error { c.to(r); return nil })
			var refused *repo.ChildrenError
			switch {
			case c.want == nil && (err != nil || !res.Changed):
				t.Errorf("%+v, %v", res, err)
			case c.want != nil && (!errors.As(err, &refused) || !slices.Equal(refused.Tables, c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
