package ordering_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/ordering"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// The runners' tables: a run's totals, the user's tendency, the messages.
var runnerTables = []string{
	`CREATE TABLE run (run_id BIGINT PRIMARY KEY, meters BIGINT NOT NULL, millis BIGINT NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE tendency (user_id BIGINT, at_ms BIGINT, now VARCHAR(20) NOT NULL, before_it VARCHAR(20) NOT NULL, PRIMARY KEY (user_id, at_ms)) ENGINE=InnoDB`,
	`CREATE TABLE message (user_id BIGINT, seq BIGINT, meters BIGINT NOT NULL, PRIMARY KEY (user_id, seq)) ENGINE=InnoDB`,
	`CREATE TABLE runner (id BIGINT PRIMARY KEY, name VARCHAR(50) NOT NULL, points BIGINT NOT NULL, asked_us BIGINT NULL, asked_at DATETIME(6) NULL,
		version BIGINT NOT NULL DEFAULT 1) ENGINE=InnoDB`,
}

func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_stream", "onerow_dead_letter")
	for _, stmt := range runnerTables {
		dbtest.Exec(t, db, stmt)
	}
	return db, dsn
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got the error %v, want %v", err, want)
	}
}

// ping is what a device sends every 30 seconds.
type ping struct {
	User   int64 `json:"user_id"`
	Meters int64 `json:"distance_meters"`
	At     int64 `json:"timestamp_utc"`
	Seq    int64 `json:"sequence_id"`
	Run    int64 `json:"run_id"`
}

func (p ping) message() ordering.Message {
	return ordering.Message{Stream: fmt.Sprint("user/", p.User), Sequence: p.Seq, Payload: must(json.Marshal(p))}
}

// runState is what the aggregation carries from message to message.
type runState struct {
	Meters   int64  `json:"meters"`
	Since    int64  `json:"since"`
	Tendency string `json:"tendency"`
	Speed    int64  `json:"speed"`
}

// advance is the aggregation: the totals, and how this message's distance compares with the last one's.
func (s *runState) advance(p ping) (before string) {
	if s.Since == 0 {
		s.Since, s.Tendency = p.At, "fine"
	}
	before = s.Tendency
	s.Meters += p.Meters
	if s.Tendency = "slower"; p.Meters >= s.Speed {
		s.Tendency = "good job"
	}
	s.Speed = p.Meters
	return before
}

// apply is the consumer's function: three writes, all upserts.
func apply(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *runState) error {
	var p ping
	if err := json.Unmarshal(m.Payload, &p); err != nil {
		return err
	}
	before := s.advance(p)
	for _, stmt := range []struct {
		query string
		args  []any
	}{
		{"REPLACE INTO run VALUES (?, ?, ?)", []any{p.Run, s.Meters, p.At - s.Since}},
		{"REPLACE INTO tendency VALUES (?, ?, ?, ?)", []any{p.User, p.At, s.Tendency, before}},
		{"REPLACE INTO message VALUES (?, ?, ?)", []any{p.User, p.Seq, p.Meters}},
	} {
		if _, err := tx.ExecContext(ctx, stmt.query, stmt.args...); err != nil {
			return err
		}
	}
	return nil
}

// tables is what an ordered run of these messages leaves, as text.
func tables(pings []ping) string {
	var s runState
	runs, out := map[int64]string{}, ""
	for _, p := range pings {
		before := s.advance(p)
		runs[p.Run] = fmt.Sprintf("run %d: %d m, %d ms\n", p.Run, s.Meters, p.At-s.Since)
		out += fmt.Sprintf("%d: %s after %s\nmessage %d: %d\n", p.At, s.Tendency, before, p.Seq, p.Meters)
	}
	for _, run := range sorted(runs) {
		out += run
	}
	return out
}

func sorted(m map[int64]string) []string {
	var keys []int64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var values []string
	for _, k := range keys {
		values = append(values, m[k])
	}
	return values
}

// stored is the same of the database.
func stored(t testing.TB, db onerow.DB) string {
	t.Helper()
	out := ""
	read := func(query string) {
		err := onerow.Query(t.Context(), db, query, nil, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			out += line
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read(`SELECT CONCAT(t.at_ms, ': ', t.now, ' after ', t.before_it, CHAR(10), 'message ', m.seq, ': ', m.meters, CHAR(10))
		FROM tendency t JOIN message m ON m.user_id = t.user_id AND m.seq * 30000 = t.at_ms ORDER BY m.seq`)
	read(`SELECT CONCAT('run ', run_id, ': ', meters, ' m, ', millis, ' ms', CHAR(10)) FROM run ORDER BY run_id`)
	return out
}
