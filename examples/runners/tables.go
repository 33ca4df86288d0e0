package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// tables are the example's own. Each has the rows of all consumers side by side.
var tables = []string{
	`CREATE TABLE message (
  consumer    VARCHAR(20) NOT NULL,
  user_id     BIGINT      NOT NULL,
  sequence_id BIGINT      NOT NULL,
  run_id      BIGINT      NOT NULL,
  meters      BIGINT      NOT NULL,
  sent_unix   BIGINT      NOT NULL,
  run_meters  BIGINT      NOT NULL,
  PRIMARY KEY (consumer, user_id, sequence_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE run_total (
  consumer VARCHAR(20) NOT NULL,
  run_id   BIGINT      NOT NULL,
  user_id  BIGINT      NOT NULL,
  messages BIGINT      NOT NULL,
  meters   BIGINT      NOT NULL,
  seconds  BIGINT      NOT NULL,
  PRIMARY KEY (consumer, run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE tendency (
  consumer    VARCHAR(20) NOT NULL,
  user_id     BIGINT      NOT NULL,
  tendency    VARCHAR(20) NOT NULL,
  streak      BIGINT      NOT NULL,
  sequence_id BIGINT      NOT NULL,
  PRIMARY KEY (consumer, user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
}

// Upserts by the primary keys: written again they leave the same row.
const (
	sqlMessage  = `REPLACE INTO message (consumer, user_id, sequence_id, run_id, meters, sent_unix, run_meters) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlRunTotal = `REPLACE INTO run_total (consumer, run_id, user_id, messages, meters, seconds) VALUES (?, ?, ?, ?, ?, ?)`
	sqlTendency = `REPLACE INTO tendency (consumer, user_id, tendency, streak, sequence_id) VALUES (?, ?, ?, ?, ?)`
)

// progress is what a consumer must remember of a user from message to message. The guard
// stores it with the last sequence.
type progress struct {
	Run      int64  `json:"run"`
	Began    int64  `json:"began"`
	Messages int64  `json:"messages"`
	Meters   int64  `json:"meters"`
	Last     int64  `json:"last"` // the last message's metres
	Tendency string `json:"tendency"`
	Streak   int64  `json:"streak"` // for how many messages that has been so
}

// advance takes a message in. The outcome depends on the order of the messages.
func (s *progress) advance(p ping) {
	now := "steady"
	switch {
	case p.Run != s.Run:
		*s = progress{Run: p.Run, Began: p.At}
		now = "starting"
	case p.Meters > s.Last:
		now = "faster"
	case p.Meters < s.Last:
		now = "slower"
	}
	if now != s.Tendency {
		s.Tendency, s.Streak = now, 0
	}
	s.Streak++
	s.Messages++
	s.Meters += p.Meters
	s.Last = p.Meters
}

// write is one statement with its arguments.
type write struct {
	query string
	args  []any
}

// writes are what a message leaves behind.
func writes(consumer string, p ping, s progress) []write {
	return []write{
		{sqlMessage, []any{consumer, p.User, p.Seq, p.Run, p.Meters, p.At, s.Meters}},
		{sqlRunTotal, []any{consumer, p.Run, p.User, s.Messages, s.Meters, p.At - s.Began}},
		{sqlTendency, []any{consumer, p.User, s.Tendency, s.Streak, p.Seq}},
	}
}

// ordered is the run to compare with: ordinary code without a guard, for messages that come in
// their order and once each.
func ordered(ctx context.Context, db onerow.DB, consumer string, pings []ping) error {
	states := map[int64]*progress{}
	for _, p := range pings {
		s := states[p.User]
		if s == nil {
			s = &progress{}
			states[p.User] = s
		}
		s.advance(p)
		for _, w := range writes(consumer, p, *s) {
			if _, err := db.ExecContext(ctx, w.query, w.args...); err != nil {
				return fmt.Errorf("the ordered run: %w", err)
			}
		}
	}
	return nil
}

// Everything that a consumer left, in the order of the primary keys, as text.
const sqlLeft = `SELECT CONCAT_WS(' ', 'message', user_id, sequence_id, run_id, meters, sent_unix, run_meters) FROM message WHERE consumer = ?
UNION ALL SELECT CONCAT_WS(' ', 'run', run_id, user_id, messages, meters, seconds) FROM run_total WHERE consumer = ?
UNION ALL SELECT CONCAT_WS(' ', 'tendency', user_id, tendency, streak, sequence_id) FROM tendency WHERE consumer = ?
ORDER BY 1`

// left reads the rows of a consumer.
func left(ctx context.Context, db onerow.DB, consumer string) (rows []string, err error) {
	err = onerow.Query(ctx, db, sqlLeft, []any{consumer, consumer, consumer}, func(r *sql.Rows) error {
		var row string
		err := r.Scan(&row)
		rows = append(rows, row)
		return err
	})
	return rows, err
}
