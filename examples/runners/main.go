// Command runners shows package ordering at work. The devices of runners send a message every 30 seconds,
// with the metres since the last one; the messages arrive late, twice and out of order. A consumer in mode
// Reject and one in mode Hold read the same deliveries. Both keep a user's metres, and for how many messages
// the user has been getting faster or slower. Both die now and then before COMMIT, and get the message again.
//
//	make demo DEMO=runners          or: go run -C examples ./runners [-dsn DSN]
//
// The exit code is 1 unless mode Hold leaves what the same code leaves after all messages in order, and mode
// Reject what it leaves after those that raised the maximum. The run's database is dropped at the end.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/ordering"
)

var tables = []string{`CREATE TABLE run (consumer VARCHAR(20) NOT NULL, user_id BIGINT NOT NULL, messages BIGINT NOT NULL, meters BIGINT NOT NULL,
  tendency VARCHAR(20) NOT NULL, streak BIGINT NOT NULL, PRIMARY KEY (consumer, user_id))`}

// ping is what a device sends.
type ping struct {
	User     int64 `json:"user_id"`
	Meters   int64 `json:"distance_meters"`
	Sequence int64 `json:"sequence_id"` // from 1, of this user's device
}

// progress is what a consumer must remember of a user. The guard stores it with the last sequence.
type progress struct {
	Messages, Meters, Last, Streak int64
	Tendency                       string
}

// advance takes a message in. The outcome depends on the order of the messages.
func (s *progress) advance(p ping) {
	now := [...]string{"slower", "steady", "faster"}[1+cmp.Compare(p.Meters, s.Last)]
	if now != s.Tendency {
		s.Tendency, s.Streak = now, 0
	}
	*s = progress{s.Messages + 1, s.Meters + p.Meters, p.Meters, s.Streak + 1, now}
}

// errDied stands for a process that dies: the server rolls back what it has not committed.
var errDied = errors.New("the process died")

// Both by the primary key; sqlRun leaves the same row when it is run again.
const (
	sqlRun  = `REPLACE INTO run (consumer, user_id, messages, meters, tendency, streak) VALUES (?, ?, ?, ?, ?, ?)`
	sqlLeft = `SELECT messages, meters, tendency, streak FROM run WHERE consumer = ? AND user_id = ?`
)

// handle is a consumer: all that is done for one message, in one transaction.
func handle(ctx context.Context, db *sql.DB, guard ordering.Guard[progress], consumer string, p ping, dies bool) (ordering.Outcome, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	m := ordering.Message{Stream: fmt.Sprintf("user/%d", p.User), Sequence: p.Sequence, Payload: body}
	res, err := guard.Apply(ctx, db, m, func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *progress) error {
		var p ping // in mode Hold also one that was held before
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			return err
		}
		s.advance(p)
		_, err := tx.ExecContext(ctx, sqlRun, consumer, p.User, s.Messages, s.Meters, s.Tendency, s.Streak)
		if err == nil && dies {
			err = errDied
		}
		return err
	})
	if errors.Is(err, errDied) { // the queue has heard nothing, and delivers it again
		return handle(ctx, db, guard, consumer, p, false)
	}
	return res.Outcome, err
}

// day draws the messages of three users, in order, and how they are delivered: some late, some twice.
func day() (sent, delivered []ping) {
	rnd := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // each run shows the same day
	arrives := map[ping]int64{}
	for user := range int64(3) {
		for seq := range int64(24) {
			p := ping{user + 1, 70 + 5*rnd.Int64N(9), seq + 1}
			arrives[p] = 30*seq + rnd.Int64N(4)/3*rnd.Int64N(180) // one in four comes up to three minutes late
			sent = append(sent, p)
			delivered = append(delivered, slices.Repeat([]ping{p}, 1+rnd.IntN(4)/3)...)
		}
	}
	slices.SortStableFunc(delivered, func(a, b ping) int { return cmp.Compare(arrives[a], arrives[b]) })
	return sent, delivered
}

// play delivers the day to a consumer in each mode, and holds what it leaves against the ordered run.
func play(ctx context.Context, db *sql.DB) (text string, err error) {
	sent, delivered := day()
	for _, guard := range []ordering.Guard[progress]{
		{Consumer: "reject", Keep: true},         // so that a duplicate can be told from a late message
		{Consumer: "hold", Hold: true, First: 1}, // it must know where a sequence begins
	} {
		counts, highest, raised := map[ordering.Outcome]int{}, map[int64]int64{}, []ping(nil)
		text += fmt.Sprintf("Mode %s; the first messages of user 1, as they arrive:\n ", guard.Consumer)
		for n, p := range delivered {
			outcome, err := handle(ctx, db, guard, guard.Consumer, p, n%5 == 0)
			if err != nil {
				return text, err
			}
			if counts[outcome]++; p.User == 1 && n < 30 {
				text += fmt.Sprintf(" %d %s;", p.Sequence, outcome)
			}
			if p.Sequence > highest[p.User] {
				highest[p.User], raised = p.Sequence, append(raised, p)
			}
		}
		text += fmt.Sprintf("\n  all %d deliveries: %v\n", len(delivered), counts)
		if guard.Hold {
			raised = sent
		}
		for user := int64(1); user <= 3; user++ {
			var want, got progress
			for _, p := range raised {
				if p.User == user {
					want.advance(p)
				}
			}
			got.Last = want.Last // not in the table
			err := onerow.QueryRow(ctx, db, sqlLeft, []any{guard.Consumer, user}, &got.Messages, &got.Meters, &got.Tendency, &got.Streak)
			if err != nil || got != want {
				return text, errors.Join(err, fmt.Errorf("user %d has %+v by mode %s, and in order %+v", user, got, guard.Consumer, want))
			}
			text += fmt.Sprintf("  user %d: %d messages, %d m, %s for %d; the ordered run has the same\n", user, got.Messages, got.Meters, got.Tendency, got.Streak)
		}
	}
	return text, nil
}

func main() { os.Exit(connect.Main("runners", tables, play)) }
