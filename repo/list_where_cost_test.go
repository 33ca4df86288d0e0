package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// manyTasks: ten of eleven are owner 1's, a few hundred owner 5's; nearly all of 1's are due at one time, and
// have one title. Of those in the archive deletions hide half.
func manyTasks(t *testing.T) string {
	const rows = 120_000
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	for _, stmt := range agendaBy("id", "due_at", "title").DDL() {
		dbtest.Exec(t, db, stmt)
	}
	const columns = "(id, user_id, status, rank_no, big, price, due_at, title, code, hash, mood, created_at, updated_at"
	const values = "SELECT i, IF(i MOD 11, 1, 2 + i DIV 11 MOD 15), IF(i MOD 30, 'open', 'done'), 1, 1, 1, IF(i MOD 20, '2030-01-01', IF(i MOD 40, NULL, '2030-01-01' + INTERVAL i SECOND)), IF(i MOD 20, 'a', i), 'c', 'h', 'good', '2030-01-01', '2030-01-01'"
	for _, stmt := range []string{
		"INSERT INTO task " + columns + ") " + cost.Numbers(rows) + values + " FROM numbers",
		"INSERT INTO task_archive " + columns + ", archived_at, deletion_id, deleted_from) " + cost.Numbers(rows) + strings.Replace(values, "i,", "10000000 + i,", 1) +
			", '2030-01-01', IF(i MOD 6 > 2, i, NULL), IF(i MOD 6 > 2, 'active', NULL) FROM numbers",
		"ANALYZE TABLE task, task_archive",
	} {
		dbtest.Exec(t, db, stmt)
	}
	return dsn
}

// lists are one of each order, direction, state and filter.
func lists() map[string]repo.PageOptions {
	all := map[string]repo.PageOptions{}
	due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, descending := range []bool{false, true} {
		for _, state := range []schema.State{schema.Active, schema.Archived, repo.AnyState} {
			add := func(name string, where repo.Where, sort repo.Sort) {
				sort.Descending = descending
				all[fmt.Sprintf("%s %v %v, descending %v", name, state, where, descending)] = repo.PageOptions{Where: where, Sort: sort, State: state}
			}
			for _, where := range []repo.Where{nil, {"status": "open"}} {
				for _, sort := range []string{"id", "due_at", "title"} {
					add(sort, where, repo.Sort{Column: sort})
				}
				add("today", where, repo.Sort{Column: "due_at", From: due, To: due.AddDate(0, 0, 1)})
			}
			add("due then", repo.Where{"due_at": due}, repo.Sort{})
			add("never due", repo.Where{"due_at": nil}, repo.Sort{})
		}
	}
	return all
}

// TestListCosts: a page reads one entry more than it has rows, of both states twice as many, wherever it is:
// at the beginning, among a hundred thousand rows with the same value, among those that are NULL, for a large
// owner and a small one.
func TestListCosts(t *testing.T) {
	tasks := must(repo.New[Task](agendaBy("id", "due_at", "title"), "task"))
	dsn := manyTasks(t)
	db := dbtest.OpenDSN(t, dsn)
	for name, o := range lists() {
		page := int64(60) // MariaDB reads what it merges two times more
		if o.State == repo.AnyState {
			page = 320
		}
		after := []repo.Cursor{""}
		for o.Limit = 500; len(after) < 12; { // a cursor of pages of 500 is good for those of 50
			next := must(tasks.List(t.Context(), db, 1, o)).Next
			if next == "" {
				break
			}
			o.After = next
			after = append(after, next)
		}
		o.Limit = 50
		measured := cost.Of(t, dsn, func(ctx context.Context, db *sql.DB) error {
			for _, o.After = range after {
				if page, err := tasks.List(ctx, db, 1, o); err != nil || len(page.Items) == 0 {
					return errors.Join(err, fmt.Errorf("%s: %d rows behind %q", name, len(page.Items), o.After))
				}
			}
			o.After = ""
			first, err := tasks.List(ctx, db, 5, o)
			if o.After = first.Next; err == nil && o.After != "" {
				_, err = tasks.List(ctx, db, 5, o)
			}
			return err
		})
		for _, s := range measured {
			if s.Read > page {
				t.Errorf("%s: %s", name, s)
			}
		}
		if len(after) < 3 {
			t.Errorf("%s: only %d pages", name, len(after))
		}
	}
	dbtest.Exec(t, db, "ALTER TABLE task RENAME INDEX user_id_due_at_id TO by_due_at")
	if n := len(must(tasks.List(t.Context(), db, 1, repo.PageOptions{Sort: repo.Sort{Column: "due_at"}})).Items); n != 50 {
		t.Errorf("%d rows with an index of another name", n)
	}
}
