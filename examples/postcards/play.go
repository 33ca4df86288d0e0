package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/serial"
)

// shop sells postcards. There are two.
type shop interface {
	// deliver hands each of the events over n times, all at once.
	deliver(ctx context.Context, events []event, n int) ([]sale, error)
	// deliverAndDie hands the event to a process that dies, then to another one.
	deliverAndDie(ctx context.Context, e event, where death) (sale, error)
	refund(ctx context.Context, e event) error
	// report finds gaps and overlaps.
	report(ctx context.Context) ([]serial.Finding, error)
	tableName() string
}

const (
	crowd  = 20 // transactions at once
	copies = 3  // deliveries of each
)

// crowded are the events of many buyers.
func crowded() (events []event, numbers int64) {
	for i := range int64(crowd) {
		e := event{fmt.Sprintf("T%02d", i+1), 1 + i%4}
		events, numbers = append(events, e), numbers+e.amount
	}
	return events, numbers
}

// play tells the story in both shops and compares them.
func play(ctx context.Context, d *demo.Database, page *demo.Page) error {
	if err := d.Create(ctx, tables); err != nil {
		return err
	}
	series, err := serial.New("postcards")
	if err != nil {
		return err
	}
	with, without := claims{d, series}, plain{d}
	page.Line("1. With claims: claim, INSERT purchase, COMMIT, in one transaction\n")
	if err := story(ctx, page, with); err != nil {
		return err
	}
	page.Step("2. The gap report, as cascade-worker serials gaps postcards shows it")
	claimed, err := with.report(ctx)
	if err != nil {
		return err
	}
	printFindings(page, claimed)
	page.Step("3. The same with a plain counter: look, UPDATE counter, COMMIT, INSERT purchase")
	if err := story(ctx, page, without); err != nil {
		return err
	}
	page.Step("4. The gap report of its table")
	lost, err := without.report(ctx)
	if err != nil {
		return err
	}
	printFindings(page, lost)
	page.Step("5. Side by side")
	return verdict(ctx, d, page, with, without, claimed, lost)
}

// story is what happens in a shop.
func story(ctx context.Context, page *demo.Page, s shop) error {
	ann, bob, cid, dan := event{"A", 3}, event{"B", 2}, event{"C", 1}, event{"D", 2}
	many, _ := crowded()
	for _, step := range []struct {
		what string
		do   func() ([]sale, error)
	}{
		{"A buys 3, its event is delivered 4 times at once", func() ([]sale, error) { return s.deliver(ctx, []event{ann}, 4) }},
		{"B buys 2, the process dies between numbers and purchase; delivered again", func() ([]sale, error) { return one(s.deliverAndDie(ctx, bob, beforePurchase)) }},
		{"C buys 1", func() ([]sale, error) { return s.deliver(ctx, []event{cid}, 1) }},
		{"C is refunded, then its event is delivered again", func() ([]sale, error) {
			if err := s.refund(ctx, cid); err != nil {
				return nil, err
			}
			return s.deliver(ctx, []event{cid}, 1)
		}},
		{"D buys 2, the process dies after COMMIT; delivered again", func() ([]sale, error) { return one(s.deliverAndDie(ctx, dan, beforeAnswer)) }},
		{fmt.Sprintf("%d more buy, each event is delivered %d times, all at once", crowd, copies), func() ([]sale, error) { return s.deliver(ctx, many, copies) }},
	} {
		sales, err := step.do()
		var voided *serial.VoidedError
		switch {
		case errors.As(err, &voided):
			page.Line("   %-74s refused: %s is voided, %s", step.what, numbers(voided.Claim.From, voided.Claim.To), voided.Claim.VoidReason)
		case err != nil:
			return fmt.Errorf("%s: %w", step.what, err)
		default:
			page.Line("   %-74s %s", step.what, summary(sales))
		}
	}
	return nil
}

func one(s sale, err error) ([]sale, error) { return []sale{s}, err }

func numbers(from, to int64) string {
	if from == to {
		return fmt.Sprintf("number %d", from)
	}
	return fmt.Sprintf("numbers %d to %d", from, to)
}

// summary is what the deliveries of a step led to.
func summary(sales []sale) string {
	var again, burned, total int64
	ranges := map[int64]sale{}
	for _, s := range sales {
		if s.again {
			again++
		}
		burned += s.burned
		if _, known := ranges[s.from]; !known {
			total += s.to - s.from + 1
		}
		ranges[s.from] = s
	}
	text := fmt.Sprintf("%d numbers in %d ranges", total, len(ranges))
	if len(ranges) == 1 {
		text = numbers(sales[0].from, sales[0].to)
	}
	switch {
	case again == 1:
		text += ", once more the same"
	case again > 1:
		text += fmt.Sprintf(", %d times more the same", again)
	}
	if burned > 0 {
		text += fmt.Sprintf(", %d burned", burned)
	}
	return text
}

// sqlSold reads the whole of a small table.
func sqlSold(table string) string {
	return "SELECT COUNT(*), COALESCE(SUM(to_no - from_no + 1), 0) FROM " + table
}

// sold is how many purchases and numbers a shop has.
func sold(ctx context.Context, db onerow.DB, s shop) (purchases, amount int64, err error) {
	err = onerow.QueryRow(ctx, db, sqlSold(s.tableName()), nil, &purchases, &amount)
	return purchases, amount, err
}
