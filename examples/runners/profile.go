package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/ordering"
)

// profile is one row that a watch, a phone and a scale write, each when it has a network: by the time of the
// measurement, so that an old weight never covers a newer one.
const profile = `CREATE TABLE profile (
  user_id   BIGINT NOT NULL PRIMARY KEY,
  grams     BIGINT NOT NULL,
  weighed   BIGINT NULL COMMENT 'microseconds since 1970',
  shoe_m    BIGINT NOT NULL DEFAULT 0,
  version   BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`

var byWeighed = ordering.ByTime{Table: "profile", ID: "user_id", At: "weighed"}

// weighings arrive in this order.
var weighings = []struct {
	minute int
	grams  int64
	what   string
}{
	{0, 71_000, "the first"},
	{30, 70_400, "half an hour later"},
	{30, 70_400, "the same again: the scale heard no answer"},
	{10, 70_900, "the phone was in a tunnel"},
}

// Both by the primary key; the version decides.
const (
	sqlReadShoe  = `SELECT shoe_m, version FROM profile WHERE user_id = ?`
	sqlWriteShoe = `UPDATE profile SET shoe_m = ?, version = version + 1 WHERE user_id = ? AND version = ?`
)

// shoe is what the runner's shoes have run, as somebody has read it.
func shoe(user int64, attempts int) ordering.Optimistic[int64] {
	return ordering.Optimistic[int64]{
		What: fmt.Sprintf("the shoes of user %d", user), Attempts: attempts,
		Read: func(ctx context.Context, db onerow.DB) (meters, version int64, err error) {
			err = onerow.QueryRow(ctx, db, sqlReadShoe, []any{user}, &meters, &version)
			return meters, version, err
		},
		Write: func(ctx context.Context, db onerow.DB, meters, version int64) (int64, error) {
			return onerow.Affected(ctx, db, sqlWriteShoe, meters, user, version)
		},
	}
}

// playProfile shows what else keeps the order: the time of an update, the version of a row, and a place for
// messages that cannot be applied.
func playProfile(ctx context.Context, d *demo.Database, page *demo.Page) error {
	if err := d.Create(ctx, []string{profile, "INSERT INTO profile (user_id, grams) VALUES (1, 0)"}); err != nil {
		return err
	}
	if err := byWeighed.Verify(ctx, d.DB); err != nil {
		return err
	}
	page.Step("6. Weights of user 1, by the time of the measurement")
	morning := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	rows := make([][]string, len(weighings))
	for i, w := range weighings {
		at := morning.Add(time.Duration(w.minute) * time.Minute)
		out, err := byWeighed.Update(ctx, d.DB, 1, at, ordering.Set("grams", w.grams))
		if err != nil {
			return err
		}
		rows[i] = []string{at.Format("15:04"), demo.Number(w.grams), w.what, string(out)}
	}
	page.Table([]string{"MEASURED", ">GRAMS", "IT IS", "THE ANSWER"}, rows)
	return playShoes(ctx, d, page)
}

// playShoes adds to a row without a lock, beside somebody who is faster.
func playShoes(ctx context.Context, d *demo.Database, page *demo.Page) error {
	page.Step("7. The shoes' distance, read, decided and written if nobody else has written")
	faster := func(times int) func(ctx context.Context, meters int64) (int64, error) {
		return func(ctx context.Context, meters int64) (int64, error) {
			if times--; times >= 0 { // somebody else, between our read and our write
				if _, err := shoe(1, 1).Update(ctx, d.DB, func(_ context.Context, m int64) (int64, error) { return m + 1, nil }); err != nil {
					return 0, err
				}
			}
			return meters + 1000, nil
		}
	}
	res, err := shoe(1, 3).Update(ctx, d.DB, faster(2))
	if err != nil {
		return err
	}
	page.Line("  two others were faster, the third attempt wrote: %s m", demo.Number(res.Row))
	_, err = shoe(1, 3).Update(ctx, d.DB, faster(3))
	if !errors.Is(err, ordering.ErrConflict) {
		return fmt.Errorf("three were faster than three attempts, and the answer was: %w", err)
	}
	if _, err := ordering.Park(ctx, d.DB, "shoes", "run 11", []byte("1000"), err); err != nil {
		return err
	}
	letters, err := ordering.DeadLetters(ctx, d.DB, "shoes", 0, 10)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		page.Line("  dead letter %q of queue %s lost against %d versions; an operator applies it after all", letter.MessageID, letter.Queue, len(letter.Losing))
		err := onerow.InTx(ctx, d.DB, func(ctx context.Context, tx *onerow.Tx) error {
			first, err := ordering.Settle(ctx, tx, letter.ID)
			if err != nil || !first {
				return err // somebody else settles it
			}
			res, err = shoe(1, 0).Update(ctx, tx, faster(0))
			return err
		})
		if err != nil {
			return err
		}
	}
	page.Line("  and so the shoes have run %s m", demo.Number(res.Row))
	return nil
}
