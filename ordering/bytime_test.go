package ordering_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/pool"
)

var (
	now    = time.Date(2026, 3, 1, 12, 0, 0, 123_456_000, time.UTC)
	guards = []ordering.ByTime{{Table: "runner", ID: "id", At: "asked_us"}, {Table: "runner", ID: "id", At: "asked_at", Datetime: true}}
)

func TestByTime(t *testing.T) {
	for _, g := range guards {
		for _, setting := range []string{"true", "false"} {
			db, _ := open(t, dbtest.Param("clientFoundRows", setting), dbtest.Param("interpolateParams", setting), dbtest.Param("loc", "Asia%2FTokyo"))
			ctx := t.Context()
			dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
			for i, step := range []struct {
				at   time.Duration
				name string
				want ordering.Outcome
			}{
				{0, "B", ordering.Applied}, {0, "C", ordering.Duplicate}, {-time.Microsecond, "D", ordering.Late}, {time.Microsecond, "E", ordering.Applied},
				{time.Hour, "E", ordering.Applied}, {time.Hour, "E", ordering.Duplicate}, {-24 * time.Hour, "F", ordering.Late},
			} {
				out, err := g.Update(ctx, db, 1, now.Add(step.at).In(time.FixedZone("x", 7200)), ordering.Change{Set: map[string]any{"name": step.name}, Add: map[string]any{"points": 5}})
				if err != nil || out != step.want {
					t.Fatalf("%s, step %d: %s, %v", g.At, i, out, err)
				}
			}
			if got := dbtest.Scan[string](t, db, "SELECT CONCAT(name, points) FROM runner"); got != "E15" {
				t.Fatal(got)
			}
			_, err := g.Update(ctx, db, 2, now, ordering.Change{Set: map[string]any{"name": "x"}})
			wantError(t, err, onerow.ErrNotFound)
		}
	}
}

// TestByTimeJSON: bytes go into a JSON column, from a pool of Open.
func TestByTimeJSON(t *testing.T) {
	_, dsn := open(t)
	db := must(pool.Open(dsn))
	t.Cleanup(func() { _ = db.Close() })
	dbtest.Exec(t, db, "CREATE TABLE item (id BIGINT PRIMARY KEY, at BIGINT NULL, doc JSON NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO item (id) VALUES (1)")
	g := ordering.ByTime{Table: "item", ID: "id", At: "at"}
	for i, doc := range []any{[]byte(`{"a": 1}`), json.RawMessage(`{"a": 2}`), []byte(`"é"`)} {
		if out, err := g.Update(t.Context(), db, 1, now.Add(time.Duration(i)*time.Second), ordering.Change{Set: map[string]any{"doc": doc}}); err != nil || out != ordering.Applied {
			t.Errorf("%s: %s, %v", doc, out, err)
		}
	}
	if got := dbtest.Scan[string](t, db, "SELECT doc FROM item"); got != `"é"` {
		t.Error(got)
	}
}

type runner struct {
	Name   string `json:"name"`
	Points int64  `json:"points"`
}

// lost is a losing version of a dead letter.
type lost struct {
	Version     int64
	Row, Wanted string
}

func losingOf(t *testing.T, d ordering.DeadLetter) (all []lost) {
	t.Helper()
	if err := json.Unmarshal(d.Losing, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func updateRunner(ctx context.Context, db onerow.DB, decide func(context.Context, runner) (runner, error)) (onerow.Result[runner], error) {
	return ordering.UpdateIfUnchanged(ctx, db, "runner 1",
		func(ctx context.Context, db onerow.DB) (r runner, version int64, err error) {
			err = onerow.QueryRow(ctx, db, "SELECT name, points, version FROM runner WHERE id = 1", nil, &r.Name, &r.Points, &version)
			return r, version, err
		}, decide, func(ctx context.Context, db onerow.DB, r runner, version int64) (int64, error) {
			return onerow.Affected(ctx, db, "UPDATE runner SET name = ?, points = ?, version = version + 1 WHERE id = 1 AND version = ?", r.Name, r.Points, version)
		})
}

// TestOptimistic: one change in between is read again; one at each attempt is a conflict, and the losing
// versions are parked.
func TestOptimistic(t *testing.T) {
	for _, level := range levels {
		db, _ := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
		ctx := t.Context()
		dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
		calls, disturb := 0, 1
		decide := func(ctx context.Context, r runner) (runner, error) {
			if calls++; calls <= disturb {
				dbtest.Exec(t, db, "UPDATE runner SET points = points + 10, version = version + 1 WHERE id = 1")
			}
			r.Points++
			return r, nil
		}
		if res := must(updateRunner(ctx, db, decide)); !res.Changed || res.Row.Points != 11 || calls != 2 {
			t.Fatalf("%+v, %d calls", res, calls)
		}
		calls, disturb = 0, 99
		_, err := updateRunner(ctx, db, decide)
		if wantError(t, err, ordering.ErrConflict); calls != 5 {
			t.Fatal(err)
		}
		for i, want := range []bool{true, false} {
			if fresh := must(ordering.Park(ctx, db, "points", "m1", []byte("payload"), err)); fresh != want {
				t.Fatal(i, fresh)
			}
		}
		letters := must(ordering.DeadLetters(ctx, db, "points", 0, 10))
		if len(letters) != 1 {
			t.Fatalf("%+v", letters)
		}
		if losing := losingOf(t, letters[0]); len(losing) != 5 || losing[1].Row != `{"name":"Ann","points":21}` || losing[1].Wanted != `{"name":"Ann","points":22}` || string(letters[0].Payload) != "payload" || letters[0].Reason != err.Error() {
			t.Fatalf("%+v", letters)
		}
		for i, want := range []bool{true, false} {
			if there := must(ordering.Settle(ctx, db, letters[0].ID)); there != want {
				t.Fatal(i, there)
			}
		}
		// In a transaction one attempt is made: its snapshot would not move.
		calls = 0
		tx := must(db.BeginTx(ctx, &sql.TxOptions{}))
		_, err = updateRunner(ctx, tx, decide)
		if wantError(t, err, ordering.ErrConflict); calls != 1 {
			t.Fatal(calls)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		wantError(t, second(updateRunner(ctx, db, func(context.Context, runner) (runner, error) { return runner{}, errPoison })), errPoison)
	}
}

// TestLosingTexts: what JSON does not keep is said in a losing version, and is no other text; the conflict
// stays one, and can be parked.
func TestLosingTexts(t *testing.T) {
	type torn struct {
		Name string          `json:"name"`
		Raw  json.RawMessage `json:"raw,omitempty"`
	}
	for what, row := range map[string]torn{"text": {Name: "a\xffb"}, "raw": {Name: "a", Raw: json.RawMessage("\"\xff\"")}, "replacement": {Name: "\uFFFD"}} {
		db, _ := open(t)
		ctx := t.Context()
		_, err := ordering.UpdateIfUnchanged(ctx, db, "torn",
			func(context.Context, onerow.DB) (torn, int64, error) { return row, 7, nil },
			func(_ context.Context, r torn) (torn, error) { return torn{Name: "b"}, nil },
			func(context.Context, onerow.DB, torn, int64) (int64, error) { return 0, nil })
		wantError(t, err, ordering.ErrConflict)
		must(ordering.Park(ctx, db, "torn", what, nil, err))
		letters := must(ordering.DeadLetters(ctx, db, "torn", 0, 10))
		if len(letters) != 1 || letters[0].Losing == nil {
			t.Fatalf("%s: parked is %+v", what, letters)
		}
		lost := losingOf(t, letters[0])[0]
		said := strings.Contains(lost.Row, "not UTF-8") && strings.Contains(lost.Row, `a\\xffb`)
		if said != (what == "text") || lost.Wanted != `{"name":"b"}` || !utf8.ValidString(lost.Row) {
			t.Errorf("%s: %+v", what, lost)
		}
	}
}
