package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/ordering"
)

type call = func(context.Context, *sql.DB) error

// reason maps an error to the sentinel that it is.
func reason(err error) error {
	for _, want := range []error{ordering.ErrConflict, ordering.ErrHeld, onerow.ErrNotFound} {
		if errors.Is(err, want) {
			return want
		}
	}
	return err
}

// race is two or three calls at once, after the messages before.
type race struct {
	name   string
	g      *ordering.Guard[runState]
	before []int64
	setup  call
	calls  []call
	once   bool
	check  call
}

// inOrder is a condition: these messages were applied, each once and in this order (meters count them).
func inOrder(want ...int64) call {
	return func(ctx context.Context, db *sql.DB) error {
		var got []int64
		err := onerow.Query(ctx, db, "SELECT seq FROM message ORDER BY meters, seq", nil, func(rows *sql.Rows) error {
			got = append(got, 0)
			return rows.Scan(&got[len(got)-1])
		})
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("applied %d, want %d", got, want)
		}
		return err
	}
}

// given is a call of Apply with one write, on a pool or in a caller's transaction that has taken its
// snapshot.
func given(h *racetest.Answers, g *ordering.Guard[runState], m ordering.Message, joined bool) call {
	return func(ctx context.Context, db *sql.DB) error {
		var res ordering.Result[runState]
		var err error
		if !joined {
			res, err = g.Apply(ctx, db, m, one)
		} else {
			err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM message", nil, new(int)); err != nil {
					return err
				}
				res, err = g.Apply(ctx, tx, m, one)
				return err
			})
		}
		if err == nil {
			h.Add(string(res.Outcome))
		}
		return reason(err)
	}
}

func sequenceRaces(h *racetest.Answers) []race {
	reject := &ordering.Guard[runState]{Consumer: "c"}
	keep := &ordering.Guard[runState]{Consumer: "c", Keep: true}
	hold := &ordering.Guard[runState]{Consumer: "c", Hold: true, First: 1}
	give := func(g *ordering.Guard[runState], seqs ...int64) (calls []call) {
		for _, seq := range seqs {
			calls = append(calls, given(h, g, sample(seq).message(), false))
		}
		return calls
	}
	inside := func(g *ordering.Guard[runState], seqs ...int64) (calls []call) {
		for _, seq := range seqs {
			calls = append(calls, given(h, g, sample(seq).message(), true))
		}
		return calls
	}
	reset := sample(1).message()
	reset.Epoch = 1
	skip := func(ctx context.Context, db *sql.DB) error { return second(hold.Skip(ctx, db, "user/3000", 1, one)) }
	forget := func(ctx context.Context, db *sql.DB) error { return second(ordering.Forget(ctx, db, -1e9, 10)) }
	release := func(ctx context.Context, db *sql.DB) error { return second(hold.Release(ctx, db, "user/3000", one)) }
	return []race{
		{"reject, the first, twice", reject, nil, nil, give(reject, 5, 5), true, h.Exactly("applied", "stale")},
		{"reject, a newer one, twice", reject, []int64{2}, nil, give(reject, 5, 5), true, h.Exactly("applied", "stale")},
		{"reject, a newer one, twice, kept", keep, []int64{2}, nil, give(keep, 5, 5), true, h.Exactly("applied", "duplicate")},
		{"reject, n and n+1", keep, []int64{2}, nil, give(keep, 5, 6), false, nil},
		{"reject, n and n+1, in callers' transactions", keep, []int64{2}, nil, inside(keep, 5, 6), false, nil},
		{"reject, a new epoch and the old one", reject, []int64{2}, nil, []call{given(h, reject, reset, false), give(reject, 3)[0]}, false, nil},
		{"reject, a newer one and forget", keep, []int64{2}, nil, []call{give(keep, 5)[0], forget}, false, nil},
		{"hold, the next, twice", hold, []int64{1}, nil, give(hold, 2, 2), true, inOrder(1, 2)},
		{"hold, n and n+1", hold, []int64{1}, nil, give(hold, 2, 3), false, inOrder(1, 2, 3)},
		{"hold, n and n+1, in callers' transactions", hold, []int64{1}, nil, inside(hold, 2, 3), false, inOrder(1, 2, 3)},
		{"hold, the first three", hold, nil, nil, give(hold, 3, 2, 1), false, inOrder(1, 2, 3)},
		{"hold, parked, twice", hold, []int64{1}, nil, give(hold, 3, 3), true, inOrder(1)},
		{"hold, the gap closes, twice", hold, []int64{1, 3}, nil, give(hold, 2, 2), true, inOrder(1, 2, 3)},
		{"hold, the gap closes, and the parked one again", hold, []int64{1, 3}, nil, give(hold, 2, 3), false, inOrder(1, 2, 3)},
		{"hold, the gap closes, and another is parked", hold, []int64{1, 3}, nil, give(hold, 2, 4), false, inOrder(1, 2, 3, 4)},
		{"hold, the gap closes, and release", hold, []int64{1, 3}, nil, []call{give(hold, 2)[0], release}, false, inOrder(1, 2, 3)},
		{"hold, the gap closes, and is skipped", hold, []int64{1, 3}, nil, []call{give(hold, 2)[0], skip}, false, nil},
		{"hold, skipped, twice", hold, []int64{1, 3}, nil, []call{skip, skip}, true, inOrder(1, 3)},
	}
}

func rowRaces(h *racetest.Answers) []race {
	points := func(at time.Time, n int) call {
		return func(ctx context.Context, db *sql.DB) error {
			out, err := guards[0].Update(ctx, db, 1, at, ordering.Change{Add: map[string]any{"points": n}})
			if err == nil {
				h.Add(string(out))
			}
			return reason(err)
		}
	}
	named := func(at time.Time, name string) call {
		return func(ctx context.Context, db *sql.DB) error {
			// Where others update the row optimistically this one raises its version, too.
			return reason(second(guards[0].Update(ctx, db, 1, at, ordering.Change{Set: map[string]any{"name": name}, Add: map[string]any{"version": 1}})))
		}
	}
	arrives := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
		return err
	}
	gone := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "DELETE FROM runner")
		return err
	}
	add := func(n int64) call {
		return func(ctx context.Context, db *sql.DB) error {
			return reason(second(updateRunner(ctx, db, func(_ context.Context, r runner) (runner, error) {
				r.Points += n
				return r, nil
			})))
		}
	}
	letter := func(why string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return second(ordering.Park(ctx, db, "q", "m", []byte("x"), errors.New(why)))
		}
	}
	settle := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			letters, err := ordering.DeadLetters(ctx, tx, "q", 0, 1)
			if err != nil || len(letters) == 0 {
				return err
			}
			if mine, err := ordering.Settle(ctx, tx, letters[0].ID); err != nil || !mine {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE runner SET points = points + 5 WHERE id = 1")
			return err
		})
	}
	later := now.Add(time.Second)
	return []race{
		{"by time, twice", nil, nil, nil, []call{points(now, 5), points(now, 5)}, true, h.Exactly("applied", "duplicate")},
		{"by time, two times", nil, nil, nil, []call{named(now, "old"), named(later, "new")}, false, func(ctx context.Context, db *sql.DB) error {
			var name string
			if err := onerow.QueryRow(ctx, db, "SELECT name FROM runner", nil, &name); err != nil || name != "new" {
				return fmt.Errorf("the name is %q, %w", name, err)
			}
			return nil
		}},
		{"by time, two additions", nil, nil, nil, []call{points(now, 5), points(later, 7)}, false, nil},
		{"by time, the row arrives", nil, nil, gone, []call{points(now, 5), arrives}, false, nil},
		{"by time, the row goes", nil, nil, nil, []call{points(now, 5), gone}, false, nil},
		{"optimistic, two additions", nil, nil, nil, []call{add(5), add(7)}, false, nil},
		{"optimistic, three additions", nil, nil, nil, []call{add(5), add(7), add(11)}, false, nil},
		{"optimistic and by time", nil, nil, nil, []call{add(5), named(now, "new")}, false, nil},
		{"dead letter, parked twice", nil, nil, nil, []call{letter("this"), letter("that")}, false, nil},
		{"dead letter, settled twice", nil, nil, letter("this"), []call{settle, settle}, true, nil},
	}
}

// workflow is a race as crashtest takes it.
func (r race) workflow(dsn string, h *racetest.Answers) crashtest.Race {
	w := faulty(dsn, r.g, r.before, nil)
	if r.g != nil {
		w = narrow(w)
	}
	setup := w.Setup
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		err := setup(ctx, db)
		if r.setup != nil && err == nil {
			err = r.setup(ctx, db)
		}
		h.Clear()
		return err
	}
	w.Check = r.check
	// Of three copies the schedules with two preemptions are too many.
	return crashtest.Race{Workflow: w, Calls: r.calls, AsOnce: r.once, Every: 100, Preemptions: 4 - len(r.calls)}
}

// TestInterleave steps every verb, and the pairs that meet at a stream or a row, through the interleavings of
// their statements.
func TestInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			h := &racetest.Answers{}
			for _, r := range append(sequenceRaces(h), rowRaces(h)...) {
				t.Run(r.name, func(t *testing.T) { crashtest.Interleave(t, r.workflow(dsn, h)) })
			}
		})
	}
}

// TestInterleaveCatchesTheNaiveTwins: reading the sequence, the time or the points, comparing here, and
// writing.
func TestInterleaveCatchesTheNaiveTwins(t *testing.T) {
	naive := func(read string, write ...string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				var has int64
				if err := onerow.QueryRow(ctx, tx, read, nil, &has); err != nil || has >= 5 {
					return err
				}
				for _, query := range write {
					if _, err := tx.ExecContext(ctx, strings.ReplaceAll(query, "{has}", fmt.Sprint(has))); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	g := &ordering.Guard[runState]{Consumer: "c"}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			for _, twin := range []struct {
				name   string
				call   call
				once   bool // a message that comes twice; else two additions
				racing []string
			}{
				{"the sequence read, compared and written", naive("SELECT last_seq FROM onerow_stream",
					"UPDATE runner SET points = points + 5 WHERE id = 1", "UPDATE onerow_stream SET last_seq = 5"), true,
					[]string{"SELECT last_seq FROM onerow_stream", "UPDATE runner SET points", "UPDATE onerow_stream SET last_seq"}},
				{"the time read, compared and written", naive("SELECT asked_us - 4 FROM runner", "UPDATE runner SET points = points + 5, asked_us = 9 WHERE id = 1"), true,
					[]string{"SELECT asked_us", "UPDATE runner SET points"}},
				{"the points read and written", naive("SELECT points FROM runner", "UPDATE runner SET points = {has} + 2 WHERE id = 1"), false,
					[]string{"SELECT points FROM runner", "UPDATE runner SET points"}},
			} {
				t.Run(twin.name, func(t *testing.T) {
					_, err := crashtest.ExploreRace(t.Context(), crashtest.Race{Workflow: faulty(dsn, g, []int64{1}, twin.call), AsOnce: twin.once, Every: -1})
					var failures *crashtest.Failures
					if !errors.As(err, &failures) {
						t.Fatalf("not caught: %v", err)
					}
					first := failures.List[0]
					for _, statement := range twin.racing {
						if strings.Count(first.Table, statement) != 2 {
							t.Errorf("the schedule does not show %q of both copies:\n%s", statement, first)
						}
					}
					if !strings.Contains(first.Diff, "table runner") {
						t.Errorf("no difference in the points:\n%s", first)
					}
					t.Logf("%d schedules catch it; the first, %s:\n%s", len(failures.List), first.Schedule, first.Table)
				})
			}
		})
	}
}
