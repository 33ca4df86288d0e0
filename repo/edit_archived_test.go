package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// archiveDesk is a desk whose archived tickets can be edited, and written below.
func archiveDesk() shape {
	s := ticketShape("", "", func(int) int64 { return 0 }, numbers)
	s.plan.Resources[0].EditArchived = true
	s.plan.Resources[1].Parent.Archived = true
	return s
}

// TestEditArchived: where the plan says so, Update and Rename write an archived row, which stays there; its name
// is arbitrated when it is activated.
func TestEditArchived(t *testing.T) {
	o := archiveDesk().open(t)
	ctx, db := t.Context(), o.db
	tickets := typed[Ticket[int64, int64], int64, int64](o.tickets)
	id := o.create(t, 0, int64(1), "A").(int64)
	must(tickets.Archive(ctx, db, id))
	o.create(t, 0, int64(1), "B")
	for verb, call := range map[string]func() error{
		"update": func() error {
			return second(tickets.Update(ctx, db, id, func(row *Ticket[int64, int64]) error { row.Note = "w"; return nil }))
		},
		"rename": func() error { return second(tickets.Rename(ctx, db, id, "W")) },
	} {
		if log, err := crashtest.Count(o.c, call); err != nil || len(log) != 6 {
			t.Errorf("%s: %d statements, doc.go says 6: %v\n%s", verb, len(log), err, log)
		}
	}
	res := must(tickets.Update(ctx, db, id, func(row *Ticket[int64, int64]) error { row.Note = "x"; return nil }))
	if !res.Changed || res.Row.Note != "x" || res.Row.State != schema.Archived {
		t.Errorf("updated: %+v", res)
	}
	for n, want := range []bool{true, false} {
		if res := must(tickets.Rename(ctx, db, id, "B")); res.Changed != want || res.Row.Name != "B" || res.Row.State != schema.Archived {
			t.Errorf("renamed, %d: %+v", n, res)
		}
	}
	if res := must(tickets.Activate(ctx, db, id)); res.Row.Name != "B (Copy 1)" || res.Row.Note != "x" {
		t.Errorf("activated: %+v", res)
	}
	must(tickets.Delete(ctx, db, id, repo.Grace(time.Hour)))
	for verb, err := range map[string]error{
		"update": second(tickets.Update(ctx, db, id, func(row *Ticket[int64, int64]) error { row.Note = "y"; return nil })),
		"rename": second(tickets.Rename(ctx, db, id, "C")),
	} {
		if !errors.Is(err, onerow.ErrNotFound) {
			t.Errorf("%s of a hidden row: %v", verb, err)
		}
	}
	theirs := tickets.OwnedBy(2)
	must(tickets.CancelDelete(ctx, db, id))
	must(tickets.Archive(ctx, db, id))
	if _, err := theirs.Rename(ctx, db, id, "D"); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("another's archived row: %v", err)
	}
}

// TestCreateBelowArchived: a row is made below an archived one where the plan says so, and never below a hidden
// one; elsewhere the error says what is wrong.
func TestCreateBelowArchived(t *testing.T) {
	allowed, refused := archiveDesk().open(t), ticketShape("", "", func(int) int64 { return 0 }, numbers).open(t)
	ctx := t.Context()
	for _, o := range []opened{allowed, refused} {
		id := o.create(t, 0, int64(1), "A")
		must(o.tickets.Archive(ctx, o.db, id))
		_, err := o.messages.Create(ctx, o.db, o.message(int64(0), id))
		if may := o.plan.Resources[1].Parent.Archived; may && err != nil || !may && (!errors.Is(err, repo.ErrParentArchived) || !errors.Is(err, repo.ErrParentNotFound)) {
			t.Errorf("below an archived row: %v", err)
		}
		if err != nil && (!strings.Contains(err.Error(), "the parent row is archived: ") || strings.Contains(err.Error(), "does not exist")) {
			t.Errorf("an archived row is there: %v", err)
		}
		must(o.tickets.Delete(ctx, o.db, id, repo.Grace(time.Hour)))
		if _, err := o.messages.Create(ctx, o.db, o.message(int64(0), id)); !errors.Is(err, repo.ErrParentNotFound) || errors.Is(err, repo.ErrParentArchived) {
			t.Errorf("below a hidden row: %v", err)
		}
	}
}

// TestEditArchivedInterleave: edits of an archived row beside what moves it, and a child that is made below it
// beside its deletion.
func TestEditArchivedInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			o := archiveDesk().open(t, dbtest.Isolation(level))
			m := made{o}
			tickets := typed[Ticket[int64, int64], int64, int64](o.tickets)
			const id = int64(1)
			archived := func(ctx context.Context, db *sql.DB) error {
				_, err := db.ExecContext(ctx, `INSERT INTO ticket_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at)
					VALUES (1, 1, 'A', 'a', 'a', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
				return err
			}
			edits := map[string]madeCall{
				"update": func(ctx context.Context, db onerow.DB) error {
					return second(tickets.Update(ctx, db, id, func(row *Ticket[int64, int64]) error { row.Note += "x"; return nil }))
				},
				"rename": func(ctx context.Context, db onerow.DB) error { return second(tickets.Rename(ctx, db, id, "B")) },
				"create a message": func(ctx context.Context, db onerow.DB) error {
					return second(o.messages.Create(ctx, db, o.message(int64(0), id)))
				},
			}
			others := map[string]madeCall{
				"update":   edits["update"],
				"activate": func(ctx context.Context, db onerow.DB) error { return second(tickets.Activate(ctx, db, id)) },
				"delete":   func(ctx context.Context, db onerow.DB) error { return second(tickets.Delete(ctx, db, id)) },
				"delete with grace": func(ctx context.Context, db onerow.DB) error {
					return second(tickets.Delete(ctx, db, id, repo.Grace(time.Hour)))
				},
			}
			for a, edit := range edits {
				for b, other := range others {
					t.Run(a+", "+b, func(t *testing.T) {
						race := crashtest.Race{Workflow: m.workflow("archived: "+a+", "+b, o.dsn, nil), Preemptions: 2, Every: 60}
						race.Setup = archived
						race.Calls = []func(context.Context, *sql.DB) error{m.asked(edit), m.asked(other)}
						report := crashtest.Interleave(t, race)
						t.Logf("workflow %s: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
					})
				}
			}
			for name, edit := range edits {
				t.Run("crash/"+name, func(t *testing.T) {
					w := m.workflow("archived: "+name, o.dsn, nil)
					w.Setup, w.Call = archived, func(ctx context.Context, db *sql.DB) error {
						return edit(ctx, db)
					}
					if name == "update" { // what adds may be applied twice, see doc.go
						w.Call = answered(func(ctx context.Context, db onerow.DB) error {
							return second(tickets.Update(ctx, db, id, func(row *Ticket[int64, int64]) error { row.Note = "x"; return nil }))
						})
					}
					if name == "create a message" { // without a request id it may be made twice
						w.Call = answered(func(ctx context.Context, db onerow.DB) error {
							return second(o.messages.Create(ctx, db, o.message(int64(0), id), repo.RequestID("r")))
						})
					}
					crashtest.Run(t, racetest.Share(w))
				})
			}
		})
	}
}
