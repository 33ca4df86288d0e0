package repo_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
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

// TestMoveSpelledOwner: a row whose keys another program has spelled otherwise, which is the same for the column
// and for the Go type, keeps its owner when it goes to another parent, and is written nowhere where it is.
func TestMoveSpelledOwner(t *testing.T) {
	type Shelf struct {
		ID     uuid.UUID `db:"id"`
		Tenant uuid.UUID `db:"tenant_id"`
	}
	type Owner struct {
		Tenant uuid.UUID `db:"tenant_id"`
		User   uuid.UUID `db:"user_id"`
	}
	type Box struct {
		ID      int64     `db:"id"`
		Tenant  uuid.UUID `db:"tenant_id"`
		UserID  uuid.UUID `db:"user_id"`
		ShelfID uuid.UUID `db:"shelf_id"`
		Name    string    `db:"name"`
	}
	const key = "CHAR(36) COLLATE utf8mb4_general_ci"
	p := schema.Plan{Tenant: schema.Column{Name: "tenant_id", Type: key}, Resources: []schema.Resource{
		{Name: "shelf", IDType: key, Archive: "shelf_archive"},
		{
			Name: "box", Owner: "user_id", OwnerType: key, Label: schema.Label{Column: "name"},
			Parent: schema.Parent{Resource: "shelf", Column: "shelf_id"},
		},
		{Name: "note", Tenant: schema.NoTenant, Parent: schema.Parent{Resource: "box", Column: "box_id"}},
	}}
	db, c := racetest.Counted(t, dbtest.DSN(t))
	makeTables(t, db)
	for _, stmt := range p.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	ctx, shelves, boxes := t.Context(), must(repo.NewOf[Shelf, uuid.UUID, uuid.UUID](p, "shelf")), must(repo.NewOf[Box, int64, Owner](p, "box"))
	for n := range 3 {
		must(shelves.Create(ctx, db, Shelf{ID: uid(n), Tenant: uid(9)}))
	}
	id := must(boxes.Create(ctx, db, Box{Tenant: uid(9), UserID: uid(8), ShelfID: uid(0), Name: "b"})).Row.ID
	dbtest.Exec(t, db, "UPDATE box SET tenant_id = UPPER(tenant_id), user_id = UPPER(user_id), shelf_id = UPPER(shelf_id)")
	below := func(n int) func(*Box) error { return func(b *Box) error { b.ShelfID = uid(n); return nil } }

	version := dbtest.Scan[int](t, db, "SELECT version FROM box")
	log, err := crashtest.Count(c, func() error {
		res, err := boxes.Move(ctx, db, id, below(0))
		return errors.Join(err, onlyIf(res.Changed, "it was there"))
	})
	if now := dbtest.Scan[int](t, db, "SELECT version FROM box"); err != nil || len(log) != 3 || now != version {
		t.Errorf("to where it is: version %d, then %d, %v\n%s", version, now, err, log)
	}
	if res, err := boxes.Move(ctx, db, id, below(1)); err != nil || !res.Changed || res.Row.ShelfID != uid(1) || res.Row.UserID != uid(8) {
		t.Errorf("below another parent: %+v, %v", res, err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM box WHERE CONCAT(user_id, tenant_id) = BINARY UPPER(CONCAT(user_id, tenant_id))"); n != 1 {
		t.Error("its owner is spelled otherwise")
	}

	// Nor is it another tenant that an archived parent would keep from its rows.
	must(shelves.Archive(ctx, db, uid(1)))
	if res, err := boxes.Move(ctx, db, id, func(b *Box) error { b.UserID = uid(7); return nil }); err != nil || !res.Changed || res.Row.UserID != uid(7) {
		t.Errorf("another owner of its tenant: %+v, %v", res, err)
	}
}

// TestMoveSpelledAbove: the same, where what is below stores the owner.
func TestMoveSpelledAbove(t *testing.T) {
	type Row struct {
		ID      int64     `db:"id"`
		UserID  uuid.UUID `db:"user_id"`
		ShelfID int64     `db:"shelf_id"`
	}
	const key = "CHAR(36) COLLATE utf8mb4_general_ci"
	p := schema.Plan{Resources: []schema.Resource{
		{Name: "shelf"},
		{Name: "box", Owner: "user_id", OwnerType: key, Parent: schema.Parent{Resource: "shelf", Column: "shelf_id"}},
		{Name: "note", Owner: "user_id", OwnerType: key, Parent: schema.Parent{Resource: "box", Column: "box_id"}},
	}}
	db := open(t)
	for _, stmt := range p.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	dbtest.Exec(t, db, "INSERT INTO shelf (id, created_at, updated_at) VALUES (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (2, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	boxes := must(repo.NewOf[Row, int64, uuid.UUID](p, "box"))
	id := must(boxes.Create(t.Context(), db, Row{UserID: uid(8), ShelfID: 1})).Row.ID
	dbtest.Exec(t, db, "UPDATE box SET user_id = UPPER(user_id)")
	res, err := boxes.Move(t.Context(), db, id, func(r *Row) error { r.ShelfID = 2; return nil })
	if err != nil || !res.Changed || res.Row.ShelfID != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}
