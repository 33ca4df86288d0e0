package repo_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Wide is a row with more in it than a server sorts in memory.
type Wide struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Rank   int64  `db:"rank_no"`
	Story  string `db:"story"`
	Data   []byte `db:"data"`
}

// TestListWide: rows of a megabyte and more, of both states, in the order of a column.
func TestListWide(t *testing.T) {
	p := schema.Plan{Resources: []schema.Resource{{
		Name: "wide", Archive: "wide_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "rank_no", Type: "BIGINT NOT NULL"}, {Name: "story", Type: "MEDIUMTEXT NOT NULL"}, {Name: "data", Type: "JSON NOT NULL"}},
		Indexes: []schema.Index{{Columns: []string{"user_id", "rank_no", "id"}, Archived: true}},
	}}}
	db, ctx := open(t), t.Context()
	for _, stmt := range p.DDL() {
		must(db.ExecContext(ctx, stmt))
	}
	wides := must(repo.New[Wide](p, "wide"))
	story := strings.Repeat("é🙂", 200_000)
	for n := range 12 {
		made := must(wides.Create(ctx, db, Wide{UserID: 1, Rank: int64(n % 2), Story: story, Data: []byte(`"` + story + `"`)})).Row
		if n%3 == 0 {
			must(wides.Archive(ctx, db, made.ID))
		}
	}
	page := must(wides.List(ctx, db, 1, repo.PageOptions{State: repo.AnyState, Sort: repo.Sort{Column: "rank_no", Descending: true}, Limit: 10}))
	if len(page.Items) != 10 || page.Items[0].Rank != 1 || page.Items[9].Rank != 0 || page.Items[9].Story != story || page.Next == "" {
		t.Errorf("%d rows", len(page.Items))
	}
}
