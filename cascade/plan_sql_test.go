package cascade

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/schema"
)

var listed = regexp.MustCompile(`(= |IN )(\([^)]*\)|[0-9]+)|LIMIT [0-9]+`)

// planSQL lists the statements of a plan.
func planSQL(ctx context.Context, db onerow.DB, plan schema.Plan) ([]work.Statement, error) {
	g, err := graph.Read(ctx, db, plan)
	if err != nil {
		return nil, err
	}
	return work.Statements(ctx, db, g)
}

// TestPlanSQL: the server can explain each statement, with an index; and each that a worker really sends to
// lock, keep, delete or detach rows below the root is one of them, but for its keys.
func TestPlanSQL(t *testing.T) {
	for name, trash := range map[string]bool{"forest": false, "with trash": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, connector := counting(t)
			used := forest
			if trash {
				used = keptForest()
				plantTrash(t, db, used)
			}
			grow(t, db, 1, 3, 2, 2, 2)
			list, err := planSQL(t.Context(), db, used)
			if err != nil {
				t.Fatal(err)
			}
			known := map[string]bool{}
			for _, s := range list {
				known[listed.ReplaceAllString(s.SQL, "~")] = true
				explained := s.SQL[strings.IndexAny(s.SQL, "SUDI/"):]
				if strings.HasPrefix(explained, "/*M!") {
					explained = explained[strings.Index(explained, "INSERT"):]
				}
				rows := 0
				if err := onerow.Query(t.Context(), db, "EXPLAIN "+explained, nil, func(*sql.Rows) error { rows++; return nil }); err != nil || rows == 0 {
					t.Errorf("%+v: %v", s, err)
				}
			}
			condemn(t, db, 1, 0)
			w, err := NewWorker(db, used, Config{Assets: &shelf{}})
			if err != nil {
				t.Fatal(err)
			}
			log, err := crashtest.Count(connector, func() error { return w.Drain(t.Context()) })
			if err != nil {
				t.Fatal(err)
			}
			sent := 0
			for _, s := range log {
				text := listed.ReplaceAllString(s.SQL, "~")
				if strings.Contains(text, "onerow_job") || strings.Contains(text, "onerow_quota") || strings.Contains(text, "`project") || strings.Contains(text, "onerow_worker") || strings.Contains(text, "onerow_plan") {
					continue
				}
				if !strings.HasPrefix(text, "DELETE") && !strings.HasPrefix(text, "UPDATE") && !strings.HasSuffix(text, "FOR UPDATE") {
					continue
				}
				if sent++; !known[text] && !trash { // the numbers of job and step are in a copy
					t.Errorf("not listed: %s", s.SQL)
				}
			}
			if sent < 6 {
				t.Errorf("%d statements were compared", sent)
			}
			for _, s := range list {
				t.Logf("%s: %s", s.What, s.SQL)
			}
		})
	}
	t.Run("no rows", func(t *testing.T) {
		list, err := planSQL(t.Context(), openForest(t), forest)
		if err != nil || len(list) == 0 || !strings.Contains(list[0].SQL, "= ?") {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
