package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// kept is a schema with applied messages of ten streams, a second apart, and one parked for each ten.
func kept(t *testing.T, messages int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(messages)+
		"SELECT 'c', CONCAT('device/', i % 10), 1, i, i % 11 > 0, UTC_TIMESTAMP(6) - INTERVAL i SECOND FROM numbers")
	exec(t, db, "ANALYZE TABLE onerow_stream_message")
	return dsn
}

// TestForgetCost: Forget reads and locks what it deletes, however many messages there are, and however many of them are old.
func TestForgetCost(t *testing.T) {
	guard := must(ordering.New[struct{}](ordering.Config{Consumer: "c", Mode: ordering.Hold, Keep: true, First: 1}))
	for _, level := range levels {
		few, many := kept(t, cost.Few, level), kept(t, cost.Many(t), level)
		for _, age := range []time.Duration{0, 500 * time.Second} {
			for _, s := range cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error {
				n, err := guard.Forget(ctx, db, age, 20)
				if err == nil && n != 20 {
					err = fmt.Errorf("%d forgotten", n)
				}
				return err
			}) {
				if t.Logf("%s: %s", level, s); s.Read > 100 || s.Locked > 100 {
					t.Errorf("%s, older than %v: %s, for 20 messages", level, age, s)
				}
			}
		}
	}
}

// TestParkedCost: what a stream has parked is found, applied and dropped without reading or locking what others have parked, or what
// is kept of its own.
func TestParkedCost(t *testing.T) {
	guard := must(ordering.New[struct{}](ordering.Config{Consumer: "c", Mode: ordering.Hold, Keep: true, First: 1}))
	nothing := func(context.Context, *onerow.Tx, ordering.Message, *struct{}) error { return nil }
	send := func(epoch, seq int64) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			_, err := guard.Apply(ctx, db, ordering.Message{Stream: "ours", Epoch: epoch, Sequence: seq}, nothing)
			return err
		}
	}
	for name, call := range map[string]func(ctx context.Context, db *sql.DB) error{
		"the gap closes": send(1, 501),
		"a new epoch":    send(2, 1),
		"skip": func(ctx context.Context, db *sql.DB) error {
			skipped, err := guard.Skip(ctx, db, "ours", 500, nothing)
			if err == nil && !skipped {
				err = errors.New("nothing was skipped")
			}
			return err
		},
	} {
		for _, level := range levels {
			parked := func(others int) string {
				db, dsn := open(t, dbtest.Isolation(level))
				exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(others)+
					"SELECT 'c', CONCAT('theirs/', i % 10), 1, i, 0, UTC_TIMESTAMP(6) FROM numbers")
				exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(others)+
					"SELECT 'c', 'ours', 0, i, 1, UTC_TIMESTAMP(6) FROM numbers")
				exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(1000)+
					"SELECT 'c', 'ours', 1, i, i <= 500, UTC_TIMESTAMP(6) FROM numbers WHERE i <= 500 OR i BETWEEN 502 AND 510")
				exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, held, state, updated_at) VALUES ('c', 'ours', 1, 500, 9, '{}', UTC_TIMESTAMP(6))")
				exec(t, db, "ANALYZE TABLE onerow_stream_message, onerow_stream")
				return dsn
			}
			for _, s := range cost.Flat(t, parked(cost.Few), parked(cost.Many(t)), call) {
				if t.Logf("%s, %s: %s", name, level, s); s.Read > 50 || s.Locked > 50 {
					t.Errorf("%s, %s: %s, for nine parked messages", name, level, s)
				}
			}
		}
	}
}

// TestForgetAll: Forget without a guard is for all consumers, and counts and limits them together.
func TestForgetAll(t *testing.T) {
	db := dbtest.OpenDSN(t, kept(t, cost.Few, sql.LevelReadCommitted))
	exec(t, db, "UPDATE onerow_stream_message SET consumer = CONCAT('c', seq % 3)")
	old := scan[int64](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE applied = 1 AND seq > 700")
	if n := must(ordering.ToForget(t.Context(), db, 700*time.Second, 1000)); n < old {
		t.Errorf("%d to forget, want %d", n, old)
	}
	if n := must(ordering.ToForget(t.Context(), db, 700*time.Second, 101)); n != 101 {
		t.Errorf("%d to forget, want the limit", n)
	}
	if n := must(ordering.Forget(t.Context(), db, 700*time.Second, 150)); n != 150 {
		t.Errorf("%d forgotten, want the limit", n)
	}
	must(ordering.Forget(t.Context(), db, 700*time.Second, 1000))
	if n := scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE seq > 700 AND applied = 1 OR seq < 600 AND applied = 1"); n != scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE seq < 600 AND applied = 1") {
		t.Errorf("%d old messages are left", n)
	}
	if n := scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE applied = 0"); n != 90 {
		t.Errorf("%d parked messages are left", n)
	}
}
