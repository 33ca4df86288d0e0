// Command postcards shows package serial at work: each event of a purchase claims a range of numbered
// postcards. Events are delivered several times at once, a process dies, a purchase is refunded.
//
//	make demo DEMO=postcards          or: go run -C examples ./postcards [-dsn DSN]
//
// Two shops live through the same story. One claims the numbers in the transaction of the purchase: each
// event has one range, and the only gap is the refunded one, voided. The other one draws from a counter of
// its own (look, UPDATE counter, COMMIT, INSERT): each raced duplicate and each crash leaves a gap. The exit
// code is 1 unless it ends so. The run has a database of its own, which it drops at the end.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

var tables = []string{
	`CREATE TABLE purchase (event VARCHAR(40) PRIMARY KEY, from_no BIGINT NOT NULL, to_no BIGINT NOT NULL)`,
	`CREATE TABLE plain_purchase (event VARCHAR(40) PRIMARY KEY, from_no BIGINT NOT NULL, to_no BIGINT NOT NULL)`,
	`CREATE TABLE plain_counter (next_no BIGINT NOT NULL)`,
	`INSERT INTO plain_counter VALUES (1)`,
}

type purchase struct {
	what, event string
	amount      int64 // 0: it is refunded
	deliveries  int   // of the event, at once
	dies        bool  // between the numbers and the INSERT
}

var story = []purchase{
	{"A buys 3, its event is delivered 4 times at once", "A", 3, 4, false},
	{"B buys 2, the process dies between numbers and purchase", "B", 2, 1, true},
	{"B's event is delivered again", "B", 2, 1, false},
	{"C buys 1", "C", 1, 1, false},
	{"C is refunded", "C", 0, 1, false},
	{"C's event is delivered again, late", "C", 1, 1, false},
	{"D buys 9, its event is delivered 20 times at once", "D", 9, 20, false},
	{"E buys 1", "E", 1, 1, false},
}

// errDied stands for a process that dies: the server rolls back what it has not committed.
var errDied = errors.New("nothing, the process died")

// claim handles an event in one transaction. The claim decides whether the event is new.
func claim(ctx context.Context, db *sql.DB, series *serial.Series, p purchase) (c serial.Claim, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := series.Claim(ctx, tx, p.event, p.amount)
		if c = res.Row; err != nil || res.Replayed { // then the purchase was committed with the claim
			return err
		}
		if p.dies {
			return errDied
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO purchase VALUES (?, ?, ?)`, p.event, c.From, c.To)
		return err
	})
	return c, err
}

// claimAll hands over all deliveries at once, and says what became of them.
func claimAll(ctx context.Context, db *sql.DB, series *serial.Series, p purchase) (string, error) {
	got := make([]serial.Claim, p.deliveries)
	var all errgroup.Group
	for i := range got {
		all.Go(func() (err error) { got[i], err = claim(ctx, db, series, p); return err })
	}
	err := all.Wait()
	switch {
	case errors.Is(err, serial.ErrVoided):
		return "refused, it is voided", nil
	case errors.Is(err, errDied):
		return errDied.Error(), nil
	}
	return fmt.Sprintf("%d to %d", got[0].From, got[0].To), err
}

// drawAll is the shop of somebody who has not thought of races and crashes. The race is staged, so that each
// run loses it in the same way: all deliveries look before the first of them draws.
func drawAll(ctx context.Context, db *sql.DB, p purchase) (string, error) {
	var sold, burned int64
	if err := onerow.QueryRow(ctx, db, `SELECT COUNT(*) FROM plain_purchase WHERE event = ?`, []any{p.event}, &sold); err != nil || sold > 0 {
		return "sold already", err
	}
	for range p.deliveries {
		res, err := db.ExecContext(ctx, `UPDATE plain_counter SET next_no = LAST_INSERT_ID(next_no + ?)`, p.amount)
		if err != nil {
			return "", err
		}
		next, err := res.LastInsertId()
		n := int64(0)
		if err == nil && !p.dies {
			n, err = onerow.Affected(ctx, db, `INSERT IGNORE INTO plain_purchase VALUES (?, ?, ?)`, p.event, next-p.amount, next-1)
		}
		if err != nil {
			return "", err
		}
		burned += (1 - n) * p.amount // the process has died, or another delivery was faster
	}
	return fmt.Sprintf("%d numbers burned", burned), nil
}

// play tells the story. It fails when the claims have a gap, or the counter none.
func play(ctx context.Context, db *sql.DB) (text string, err error) {
	series, err := serial.New("postcards")
	if err != nil {
		return "", err
	}
	text = fmt.Sprintf("%-56s %-30s %s\n", "", "CLAIMS", "PLAIN COUNTER")
	for _, p := range story {
		claimed, drawn := "voided", "deleted"
		if p.amount > 0 {
			if claimed, err = claimAll(ctx, db, series, p); err == nil {
				drawn, err = drawAll(ctx, db, p)
			}
		} else if _, err = series.Void(ctx, db, p.event, "refunded"); err == nil {
			_, err = db.ExecContext(ctx, `DELETE FROM plain_purchase WHERE event = ?`, p.event)
		}
		if err != nil {
			return text, fmt.Errorf("%s: %w", p.what, err)
		}
		text += fmt.Sprintf("%-56s %-30s %s\n", p.what, claimed, drawn)
	}
	claims, err := gaps.Find(ctx, db, series)
	counter, cerr := gaps.Table{Name: "plain_purchase", From: "from_no", To: "to_no", Key: "event"}.Find(ctx, db, "")
	if err := errors.Join(err, cerr); err != nil {
		return text, err
	}
	text += "\nThe gap reports (cascade-worker serials gaps postcards shows the first one):\n"
	for i, found := range [][]gaps.Finding{claims, counter} {
		for _, f := range found {
			text += fmt.Sprintf("  %-13s  %-8s %3d to %d\n", []string{"claims", "plain counter"}[i], f.Kind, f.From, f.To)
		}
	}
	if !gaps.Complete(claims) || gaps.Complete(counter) {
		err = errors.New("the claims should have no gap, and the plain counter some")
	}
	return text, err
}

func main() { os.Exit(connect.Main("postcards", tables, play)) }
