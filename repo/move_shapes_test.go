package repo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// moves: a ticket becomes another's, a message another ticket's, as often as it is called.
func (o opened) moves(t *testing.T) {
	ctx, db := t.Context(), o.db
	give := func(owner any) func(any) error {
		return func(row any) error { o.give(row, owner); return nil }
	}
	id, theirs := o.create(t, 1, o.owner(1), "A"), o.create(t, 2, o.other, "a")
	must(db.ExecContext(ctx, "DELETE FROM onerow_quota_mark"))
	for n, want := range []int{12, 3} { // its name is taken, and then it is there
		log, err := crashtest.Count(o.c, func() error {
			res, err := o.tickets.Move(ctx, db, id, give(o.other))
			name, _, _, _ := o.see(res.Row)
			return errors.Join(err, onlyIf(res.Changed != (n == 0) || name != "A (Copy 1)", "it is called "+name))
		})
		if err != nil || len(log) != want {
			t.Errorf("%d: %d statements, want %d: %v\n%s", n, len(log), want, err, log)
		}
	}
	if n := count(t, db, "SELECT COUNT(*) + 10 * COUNT(DISTINCT owner) FROM onerow_quota_mark"); n != 22 {
		t.Errorf("%d marks of %d owners", n%10, n/10)
	}
	if row := must(o.tickets.OwnedBy(o.other).Get(ctx, db, id)); o.idOf(row) != id {
		t.Error("another row was found")
	}
	for _, err := range []error{
		second(o.tickets.OwnedBy(o.owner(1)).Move(ctx, db, id, give(o.owner(1)))), second(o.tickets.OwnedBy(o.owner(1)).Get(ctx, db, id)),
	} {
		if !errors.Is(err, onerow.ErrNotFound) {
			t.Errorf("it is another's now: %v", err)
		}
	}
	if _, err := o.tickets.OwnedBy(o.other).Move(ctx, db, id, give(o.owner(1))); !errors.Is(err, repo.ErrOtherOwner) {
		t.Errorf("away from an owner: %v", err)
	}
	if err := o.rule.Settle(ctx, db, o.values(o.other)...); err != nil {
		t.Error(err)
	}

	message := must(o.messages.Create(ctx, db, o.message(o.id(3), id))).Row
	below := func(ticket any) func(any) error {
		return func(row any) error { o.under(row, ticket); return nil }
	}
	key := o.keyOf(message)
	log, err := crashtest.Count(o.c, func() error { return second(o.messages.Move(ctx, db, key, below(theirs))) })
	if err != nil || len(log) != 8 {
		t.Errorf("a message: %d statements: %v\n%s", len(log), err, log)
	}
	if res, err := o.messages.Move(ctx, db, key, below(theirs)); err != nil || res.Changed {
		t.Errorf("again: %+v, %v", res, err)
	}
	must(o.tickets.Delete(ctx, db, id))
	o.drain(t)
	if n := count(t, db, "SELECT COUNT(*) FROM message"); n != 1 {
		t.Errorf("%d messages are left", n)
	}
	must(o.tickets.Delete(ctx, db, theirs, repo.Grace(time.Hour)))
	last := o.create(t, 4, o.other, "last")
	if _, err := o.messages.Move(ctx, db, key, below(last)); !errors.Is(err, repo.ErrBeingDeleted) || !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("away from a hidden ticket: %v", err)
	}
}

// TestMoveArchived: an archived row is moved where the plan lets it be edited; its name is arbitrated when it
// is activated.
func TestMoveArchived(t *testing.T) {
	o := archiveDesk().open(t)
	ctx, db := t.Context(), o.db
	tickets := typed[Ticket[int64, int64], int64, int64](o.tickets)
	give := func(owner int64) func(*Ticket[int64, int64]) error {
		return func(row *Ticket[int64, int64]) error { row.UserID = owner; return nil }
	}
	id := o.create(t, 0, int64(1), "A").(int64)
	o.create(t, 0, int64(2), "A")
	must(tickets.Archive(ctx, db, id))
	log, err := crashtest.Count(o.c, func() error {
		res, err := tickets.Move(ctx, db, id, give(2))
		return errors.Join(err, onlyIf(!res.Changed || res.Row.UserID != 2 || res.Row.Name != "A" || res.Row.State != schema.Archived, "it is not there"))
	})
	if err != nil || len(log) != 6 {
		t.Errorf("%d statements, doc.go says 6: %v\n%s", len(log), err, log)
	}
	if res := must(tickets.Activate(ctx, db, id)); res.Row.Name != "A (Copy 1)" {
		t.Errorf("activated: %+v", res)
	}
	must(tickets.Archive(ctx, db, id))
	must(tickets.Delete(ctx, db, id, repo.Grace(time.Hour)))
	if _, err := tickets.Move(ctx, db, id, give(1)); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("a hidden row: %v", err)
	}
}
