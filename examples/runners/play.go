package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/ordering"
)

// scene is what step 2 delivers of user 1, message by message.
var scene = []struct {
	seq  int64
	dies death
	what string
}{
	{1, never, "in order"},
	{3, never, "early"},
	{3, never, "early again"},
	{2, 2, "late; the consumer dies after 2 of its 3 writes"},
	{2, never, "twice"},
	{4, beforeContext, "dies after 3 writes, before the context"},
	{6, never, "early"},
	{5, afterCommit, "dies after COMMIT, before it can acknowledge"},
}

// errDiffer: the tables are not those of the ordered runs.
var errDiffer = errors.New("the tables are not those of the ordered runs")

// play runs the day and prints what happens.
func play(ctx context.Context, d *demo.Database, page *demo.Page, seed uint64) (err error) {
	if err := d.Create(ctx, tables); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed shall make the same day
	pings := day(rnd)
	page.Line("1. The devices of %d runners send a message every %d seconds, %d messages in %d runs; the first one is", users, interval, len(pings), users*runs)
	first, err := pings[0].message()
	if err != nil {
		return err
	}
	page.Line("   %s", first.Payload)

	var both [2]*consumer
	for i, hold := range []bool{false, true} {
		if both[i], err = newConsumer(ctx, d, hold); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, both[i].close()) }()
	}
	delivered, err := playScene(ctx, page, both, pings)
	if err != nil {
		return err
	}
	rest := deliveries(rnd, slices.DeleteFunc(slices.Clone(pings), func(p ping) bool { return p.User == 1 && p.Seq <= 6 }))
	for _, next := range rest {
		for i, c := range both {
			if _, err := c.deliver(ctx, next.ping, next.dies[i]); err != nil {
				return err
			}
		}
	}
	delivered = append(delivered, rest...)
	printCounts(page, both, len(delivered))

	raised := raising(delivered)
	if err := errors.Join(ordered(ctx, d.DB, "reject, ordered", raised), ordered(ctx, d.DB, "hold, ordered", pings)); err != nil {
		return err
	}
	if err := compare(ctx, d, page, both[1], len(raised), len(pings)); err != nil {
		return err
	}
	return playProfile(ctx, d, page)
}

// playScene delivers the scene and prints what each message became.
func playScene(ctx context.Context, page *demo.Page, both [2]*consumer, pings []ping) (delivered []delivery, err error) {
	page.Step("2. The first messages of user 1, as they arrive. Who dies gets the message again")
	rows := make([][]string, len(scene))
	for n, s := range scene {
		next := pings[s.seq-1]
		delivered = append(delivered, delivery{ping: next})
		rows[n] = []string{strconv.FormatInt(s.seq, 10), s.what}
		for _, c := range both {
			a, err := c.deliver(ctx, next, s.dies)
			if err != nil {
				return nil, err
			}
			rows[n] = append(rows[n], a.String())
		}
	}
	page.Table([]string{">SEQUENCE", "IT COMES", "MODE REJECT", "MODE HOLD"}, rows)
	return delivered, nil
}

// String is the last answer, the one that was acknowledged.
func (a answer) String() string {
	text := string(a.Outcome)
	if a.Replayed {
		text += " already"
	}
	if a.died {
		text = "delivered again: " + text
	}
	if a.Released > 0 {
		text += fmt.Sprintf(", the held %d with it", a.Released)
	}
	return text
}

func printCounts(page *demo.Page, both [2]*consumer, delivered int) {
	page.Step("3. The whole day, %d deliveries", delivered)
	var rows [][]string
	line := func(what string, of func(c *consumer) int) {
		rows = append(rows, []string{what, demo.Number(int64(of(both[0]))), demo.Number(int64(of(both[1])))})
	}
	for _, o := range []ordering.Outcome{ordering.Applied, ordering.Held, ordering.Late, ordering.Duplicate} {
		line(string(o), func(c *consumer) int { return c.counts[o] })
	}
	line("(the consumer died, the message came again)", func(c *consumer) int { return c.deaths })
	page.Table([]string{"THE ANSWER THAT WAS ACKNOWLEDGED", ">MODE REJECT", ">MODE HOLD"}, rows)
}
