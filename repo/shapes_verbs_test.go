package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestShapes: what the verbs do and how many statements they send is the same for all kinds of keys.
func TestShapes(t *testing.T) {
	all := shapes()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all[name].test(t)
		})
	}
}

func (s shape) test(t *testing.T) {
	for name, test := range map[string]func(*testing.T, opened){
		"verbs":   func(t *testing.T, o opened) { o.verbs(t) },
		"owners":  func(t *testing.T, o opened) { o.owners(t) },
		"names":   func(t *testing.T, o opened) { o.names(t) },
		"lists":   func(t *testing.T, o opened) { o.lists(t) },
		"quota":   func(t *testing.T, o opened) { o.quota(t) },
		"cascade": func(t *testing.T, o opened) { o.cascade(t) },
		"moves":   func(t *testing.T, o opened) { o.moves(t) },
		"repeats": func(t *testing.T, o opened) { o.repeats(t) },
	} {
		t.Run(name, func(t *testing.T) { test(t, s.open(t)) })
	}
}

// verbs holds the counts of doc.go: an id that the application makes costs a create one statement more.
func (o opened) verbs(t *testing.T) {
	ctx, db, own := t.Context(), o.db, 0
	if o.made {
		own = 1
	}
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(o.c, call)
		if err != nil || len(log) != want {
			t.Errorf("%s: %d statements, want %d: %v\n%s", what, len(log), want, err, log)
		}
	}
	id := o.create(t, 1, o.owner(1), "A")
	see := func(name, note string, state schema.State) {
		t.Helper()
		gotName, gotNote, _, gotState := o.see(must(o.tickets.Get(ctx, db, id)))
		if gotName != name || gotNote != note || gotState != state {
			t.Errorf("it is %q, %q, %q; want %q, %q, %q", gotName, gotNote, gotState, name, note, state)
		}
	}
	see("A", "", schema.Active)
	expect("create", 5+own, func() error { return second(o.tickets.Create(ctx, db, o.ticket(o.id(2), o.owner(1), "B"))) })
	expect("create with a request id", 7+own, func() error {
		return second(o.tickets.Create(ctx, db, o.ticket(o.id(3), o.owner(1), "C"), repo.RequestID("r")))
	})
	expect("create a message", 4+own, func() error { return second(o.messages.Create(ctx, db, o.message(o.id(4), id))) })
	expect("get", 1, func() error { return second(o.tickets.Get(ctx, db, id)) })
	expect("find", 1, func() error { return second(o.tickets.Find(ctx, db, o.owner(1), "a")) })
	expect("list", 1, func() error { return second(o.tickets.List(ctx, db, o.owner(1), repo.PageOptions{})) })
	expect("rename", 4, func() error { return second(o.tickets.Rename(ctx, db, id, "A2")) })
	expect("update", 5, func() error {
		return second(o.tickets.Update(ctx, db, id, func(row any) error { o.setNote(row, "x"); return nil }))
	})
	see("A2", "x", schema.Active)
	expect("archive", 7, func() error { return second(o.tickets.Archive(ctx, db, id)) })
	see("A2", "x", schema.Archived)
	expect("archive again", 5, func() error { return second(o.tickets.Archive(ctx, db, id)) })
	o.create(t, 5, o.owner(1), "a2")
	expect("activate beside its name", 7, func() error { return second(o.tickets.Activate(ctx, db, id)) })
	see("A2 (Copy 1)", "x", schema.Active)
	expect("delete with grace", 8, func() error { return second(o.tickets.Delete(ctx, db, id, repo.Grace(time.Hour))) })
	if _, err := o.tickets.Get(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("a hidden row: %v", err)
	}
	expect("cancel", 11, func() error { return second(o.tickets.CancelDelete(ctx, db, id)) })
	del := must(o.tickets.Delete(ctx, db, id, repo.Grace(time.Hour)))
	if back := must(repo.Restore(ctx, db, o.plan, del.DeletionID)); back.Name != "A2 (Copy 1)" || !back.Changed {
		t.Errorf("restored: %+v", back)
	}
	expect("delete", 7, func() error {
		del, err := o.tickets.Delete(ctx, db, id)
		return errors.Join(err, onlyIf(del.JobID == 0, "it has no job"))
	})
	expect("delete again", 8, func() error {
		del, err := o.tickets.Delete(ctx, db, id)
		return errors.Join(err, onlyIf(del.Changed || del.JobID == 0, "it is deleted again"))
	})
}

func onlyIf(wrong bool, text string) error {
	if wrong {
		return errors.New(text)
	}
	return nil
}

// owners: nobody's verb reaches another's row, and names are unique per owner.
func (o opened) owners(t *testing.T) {
	ctx, db := t.Context(), o.db
	id := o.create(t, 1, o.owner(1), "A")
	mine, theirs := o.tickets.OwnedBy(o.owner(1)), o.tickets.OwnedBy(o.owner(2))
	for _, err := range []error{
		second(theirs.Get(ctx, db, id)), second(theirs.Archive(ctx, db, id)), second(theirs.Delete(ctx, db, id)), second(theirs.Rename(ctx, db, id, "B")),
	} {
		if !errors.Is(err, onerow.ErrNotFound) {
			t.Errorf("another's row: %v", err)
		}
	}
	made, err := mine.Create(ctx, db, o.ticket(o.id(2), o.noOwner, "B"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Get(ctx, db, o.idOf(made.Row)); err != nil {
		t.Error(err)
	}
	var taken *repo.NameTakenError
	if _, err := o.tickets.Create(ctx, db, o.ticket(o.id(3), o.owner(1), "a")); !errors.As(err, &taken) || taken.ID != id {
		t.Errorf("a taken name: %v", err)
	}
	o.create(t, 4, o.owner(2), "A")
	if _, err := theirs.Create(ctx, db, o.ticket(o.id(5), o.owner(1), "C")); !errors.Is(err, repo.ErrOtherOwner) {
		t.Errorf("for another: %v", err)
	}
	for _, err := range []error{
		second(mine.Archive(ctx, db, id)), second(mine.Activate(ctx, db, id)), second(mine.Delete(ctx, db, id)), second(mine.Delete(ctx, db, id)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := theirs.Delete(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("another's row, gone: %v", err)
	}
}

// names that are hostile in text are names.
func (o opened) names(t *testing.T) {
	for n, name := range []string{`'; DROP TABLE ticket; --`, "\\", `"`, "100%_", "🙂", "a\u0301", "x (Copy 1)", "0x00", "NULL"} {
		id := o.create(t, n+1, o.owner(1), name)
		must(o.tickets.Archive(t.Context(), o.db, id))
		must(o.tickets.Activate(t.Context(), o.db, id))
		if row := must(o.tickets.Find(t.Context(), o.db, o.owner(1), name)); o.idOf(row) != id {
			t.Errorf("%q finds another row", name)
		}
	}
}

// lists come in the order of the ids, in pages of one, both states.
func (o opened) lists(t *testing.T) {
	var ids []any
	for n := range 5 {
		ids = append(ids, o.create(t, n+1, o.owner(1), fmt.Sprint("n", n)))
		o.create(t, n+100, o.owner(2), fmt.Sprint("n", n))
	}
	for _, state := range []schema.State{schema.Active, schema.Archived} {
		var got []any
		for page := (repo.Page[any]{}); ; {
			page = must(o.tickets.List(t.Context(), o.db, o.owner(1), repo.PageOptions{State: state, After: page.Next, Limit: 1}))
			for _, row := range page.Items {
				got = append(got, o.idOf(row))
			}
			if page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%s: %v, want %v", state, got, ids)
		}
		for _, id := range ids {
			if state == schema.Active {
				must(o.tickets.Archive(t.Context(), o.db, id))
			}
		}
	}
	must(o.tickets.Activate(t.Context(), o.db, ids[1]))
	for i, options := range []repo.PageOptions{{}, {Where: repo.Where{"note": ""}}, {Sort: repo.Sort{Column: "note"}}, {Sort: repo.Sort{Descending: true}},
		{Where: repo.Where{"note": ""}, Sort: repo.Sort{Descending: true}}, {Sort: repo.Sort{Column: "note", Descending: true}}} {
		want, got := slices.Clone(ids), []any{}
		if i > 2 {
			slices.Reverse(want)
		}
		for options.State, options.Limit = repo.AnyState, 2; ; {
			page := must(o.tickets.List(t.Context(), o.db, o.owner(1), options))
			for _, row := range page.Items {
				_, _, _, state := o.see(row)
				if (state == schema.Active) != (o.idOf(row) == ids[1]) {
					t.Errorf("%v is %s", o.idOf(row), state)
				}
				got = append(got, o.idOf(row))
			}
			if options.After = page.Next; page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", options, got, want)
		}
	}
	must(o.tickets.Archive(t.Context(), o.db, ids[1]))
	if n := len(must(o.tickets.List(t.Context(), o.db, o.owner(1), repo.PageOptions{State: schema.Archived})).Items); n != len(ids) {
		t.Errorf("%d of %d", n, len(ids))
	}
	if n := len(must(o.tickets.List(t.Context(), o.db, o.owner(1), repo.PageOptions{})).Items); n != 0 {
		t.Errorf("%d of none", n)
	}
	if _, err := o.tickets.List(t.Context(), o.db, o.owner(1), repo.PageOptions{After: "a,b"}); !errors.Is(err, repo.ErrInvalidCursor) {
		t.Error(err)
	}
}

// quota: the marks of the verbs are those that the rule settles.
func (o opened) quota(t *testing.T) {
	var ids []any
	for n := range 4 {
		ids = append(ids, o.create(t, n+1, o.owner(1), fmt.Sprint("n", n)))
	}
	over := func(want ...bool) {
		t.Helper()
		if err := o.rule.Settle(t.Context(), o.db, o.values(o.owner(1))...); err != nil {
			t.Fatal(err)
		}
		if n := count(t, o.db, "SELECT COUNT(*) FROM onerow_quota_mark"); n != 0 {
			t.Errorf("%d marks are left", n)
		}
		for i, want := range want {
			if _, _, over, _ := o.see(must(o.tickets.Get(t.Context(), o.db, ids[i]))); over != want {
				t.Errorf("row %d: over quota is %v", i, over)
			}
		}
	}
	over(false, false, true, true)
	must(o.tickets.Archive(t.Context(), o.db, ids[0]))
	over(false, false, false, true)
	must(o.tickets.Activate(t.Context(), o.db, ids[0]))
	over(false, false, true, true)
	if _, err := o.rule.Recalculate(t.Context(), o.db, o.values(o.owner(1))...); err != nil {
		t.Fatal(err)
	}
	over(false, false, true, true)
}

// cascade: the key of the job names what is below the row.
func (o opened) cascade(t *testing.T) {
	ctx, db := t.Context(), o.db
	id, other := o.create(t, 1, o.owner(1), "A"), o.create(t, 2, o.owner(1), "B")
	for n, ticket := range []any{id, id, other} {
		must(o.messages.Create(ctx, db, o.message(o.id(10+n), ticket)))
	}
	must(o.tickets.Delete(ctx, db, id))
	if _, err := o.messages.Create(ctx, db, o.message(o.id(20), id)); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("below a deleted row: %v", err)
	}
	o.drain(t)
	if n := count(t, db, "SELECT COUNT(*) FROM message"); n != 1 {
		t.Errorf("%d messages are left, want 1", n)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Errorf("%d jobs are open", n)
	}
}

// repeats: a create is repeatable by an id that the application made.
func (o opened) repeats(t *testing.T) {
	if !o.made {
		return
	}
	ctx, db := t.Context(), o.db
	row := o.ticket(o.id(1), o.owner(1), "A")
	states := []struct {
		name  string
		reach func() error
		want  error
		state schema.State
	}{
		{"active", func() error { return nil }, nil, schema.Active},
		{"renamed, its name another's", func() error {
			return errors.Join(second(o.tickets.Rename(ctx, db, o.id(1), "B")), second(o.tickets.Create(ctx, db, o.ticket(o.id(2), o.owner(1), "A"))))
		}, nil, schema.Active},
		{"archived", func() error { return second(o.tickets.Archive(ctx, db, o.id(1))) }, nil, schema.Archived},
		{"archived, its name free", func() error { return second(o.tickets.Rename(ctx, db, o.id(2), "C")) }, nil, schema.Archived},
		{"hidden", func() error { return second(o.tickets.Delete(ctx, db, o.id(1), repo.Grace(time.Hour))) }, repo.ErrGone, ""},
		{"brought back", func() error { return second(o.tickets.CancelDelete(ctx, db, o.id(1))) }, nil, schema.Archived},
		{"deleted", func() error { return second(o.tickets.Delete(ctx, db, o.id(1))) }, repo.ErrGone, ""},
		{"deleted, its name another's", func() error { return second(o.tickets.Rename(ctx, db, o.id(2), "A")) }, repo.ErrGone, ""},
	}
	must(o.tickets.Create(ctx, db, row))
	for _, s := range states {
		if err := s.reach(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		before := count(t, db, "SELECT COUNT(*) FROM ticket")
		for where, call := range map[string]func(func(onerow.DB) error) error{
			"pool":   func(call func(onerow.DB) error) error { return call(db) },
			"joined": func(call func(onerow.DB) error) error { return inOldSnapshot(ctx, db, call) },
		} {
			err := call(func(db onerow.DB) error {
				res, err := o.tickets.Create(ctx, db, row)
				if _, _, _, state := o.see(res.Row); err == nil && (!res.Replayed || res.Changed || state != s.state) {
					t.Errorf("%s, %s: %+v", s.name, where, res)
				}
				return err
			})
			if !errors.Is(err, s.want) || (err == nil) != (s.want == nil) {
				t.Errorf("%s, %s: %v, want %v", s.name, where, err, s.want)
			}
		}
		if after := count(t, db, "SELECT COUNT(*) FROM ticket"); after != before {
			t.Errorf("%s: %d rows, %d before", s.name, after, before)
		}
		var conflict *repo.ConflictError
		if _, err := o.tickets.Create(ctx, db, o.ticket(o.id(1), o.owner(2), "A")); s.want == nil && (!errors.As(err, &conflict) || conflict.HolderID != o.id(1)) {
			t.Errorf("%s: another's row of the id: %v", s.name, err)
		}
	}
	if _, err := o.tickets.Create(ctx, db, o.ticket(o.noID, o.owner(1), "Z")); !errors.Is(err, onerow.ErrInvalidKey) {
		t.Errorf("no id: %v", err)
	}
}

// inOldSnapshot calls in a transaction whose snapshot is there already, and rolls back.
func inOldSnapshot(ctx context.Context, db *sql.DB, call func(onerow.DB) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	var n int
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM onerow_job").Scan(&n)
	return errors.Join(err, call(tx), tx.Rollback())
}
