package check

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"

	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

const (
	readClaims  = `SELECT claim_key, COALESCE(from_no, 0), COALESCE(to_no, 0) FROM onerow_serial_claim WHERE series = ?`
	readTickets = `SELECT claim_key, from_no, to_no FROM soak_ticket WHERE series = ?`
)

// serials demands that the numbers are gapless up to the counter, given once, and the business rows have
// exactly the claims' ranges.
func (c *checker) serials(ctx context.Context) error {
	for _, name := range load.Series {
		claims, err := c.readRanges(ctx, readClaims, name)
		if err != nil {
			return err
		}
		tickets, err := c.readRanges(ctx, readTickets, name)
		if err != nil {
			return err
		}
		for key, ranges := range tickets {
			switch {
			case len(ranges) > 1:
				c.add(Serials, Doubled, "claim %q of %s has %d business rows: %v", key, name, len(ranges), ranges)
			case len(claims[key]) == 0:
				c.add(Serials, Orphaned, "a business row has %s of %s under %q, which no claim has", ranges[0], name, key)
			case claims[key][0] != ranges[0]:
				c.add(Serials, Duplicate, "claim %q of %s has %s, its business row %s", key, name, claims[key][0], ranges[0])
			}
		}
		for key, ranges := range claims {
			if len(tickets[key]) == 0 {
				c.add(Serials, Orphaned, "claim %q of %s has %s, and no business row was committed with it", key, name, ranges[0])
			}
			if !happened(c.history.keys[onKey{op: journal.Claim, resource: name, key: key}]) {
				c.add(Serials, Doubled, "claim %q of %s has numbers, and whoever asked was told that nothing was done", key, name)
			}
		}
		if err := c.gaps(ctx, name); err != nil {
			return err
		}
	}
	return c.claimed(ctx)
}

func (c *checker) readRanges(ctx context.Context, query, series string) (map[string][]string, error) {
	ranges := map[string][]string{}
	return ranges, c.query(ctx, query, func(rows *sql.Rows) error {
		var claim serial.Claim
		err := rows.Scan(&claim.Key, &claim.From, &claim.To)
		ranges[claim.Key] = append(ranges[claim.Key], load.Range(claim))
		return err
	}, series)
}

// gaps asks the toolkit's own report, of the claims and of the business rows.
func (c *checker) gaps(ctx context.Context, name string) error {
	series, err := serial.New(name)
	if err != nil {
		return err
	}
	found, err := gaps.Find(ctx, c.db, series)
	if err != nil {
		return err
	}
	tickets := gaps.Table{Name: "soak_ticket", Series: "series", From: "from_no", To: "to_no", Key: "claim_key"}
	more, err := tickets.Find(ctx, c.db, name)
	for _, f := range append(found, more...) {
		column := Lost
		if f.Kind == gaps.Overlap {
			column = Duplicate
		}
		c.add(Serials, column, "series %s: %d to %d: %s, at claim %q", name, f.From, f.To, f.Kind, f.Key)
	}
	return err
}

// claimed demands that one claim key has one range, whoever asked.
func (c *checker) claimed(ctx context.Context) error {
	for _, name := range load.Series {
		claims, err := c.readRanges(ctx, readClaims, name)
		if err != nil {
			return err
		}
		for at, entries := range c.history.keys {
			if at.op != journal.Claim || at.resource != name {
				continue
			}
			for _, e := range entries {
				switch has := claims[at.key]; {
				case e.Result != journal.OK:
				case len(has) == 0:
					c.add(Serials, Lost, "%s of %s was acknowledged to claim %q, which is not there", e.Value, name, at.key)
				case has[0] != e.Value:
					c.add(Serials, Duplicate, "%s of %s was acknowledged to claim %q, which has %s", e.Value, name, at.key, has[0])
				}
			}
		}
	}
	return nil
}

const (
	readApplied  = `SELECT stream, seq, COUNT(*), SUM(amount) FROM soak_applied GROUP BY stream, seq`
	readContexts = `SELECT stream, last_seq, state FROM onerow_stream WHERE consumer = '` + load.Consumer + `'`
)

// sum is what a stream's messages come to.
type sum struct{ last, amount, count int64 }

// streams demands that a message was applied once or not at all, and that the stream's state is the sum of
// those that were.
func (c *checker) streams(ctx context.Context) error {
	sums, err := c.messages(ctx)
	if err != nil {
		return err
	}
	return c.query(ctx, readContexts, func(rows *sql.Rows) error {
		var stream string
		var lastSequence int64
		var state []byte
		if err := rows.Scan(&stream, &lastSequence, &state); err != nil {
			return err
		}
		var total load.Total
		if len(state) > 0 {
			if err := json.Unmarshal(state, &total); err != nil {
				return fmt.Errorf("the state of %s: %w", stream, err)
			}
		}
		s, ok := sums[stream]
		switch {
		case !ok && total == (load.Total{}):
		case total.Sum < s.amount || total.Count < s.count || lastSequence < s.last:
			c.add(Streams, Lost, "stream %s is at %d with %+v, its messages at %d with %d in %d", stream, lastSequence, total, s.last, s.amount, s.count)
		case total.Sum > s.amount || total.Count > s.count || lastSequence > s.last:
			c.add(Streams, Doubled, "stream %s is at %d with %+v, its messages at %d with %d in %d", stream, lastSequence, total, s.last, s.amount, s.count)
		}
		return nil
	})
}

// messages holds those that were applied against what was acknowledged, and adds them up by stream.
func (c *checker) messages(ctx context.Context) (sums map[string]sum, err error) {
	sums = map[string]sum{}
	applied := map[onKey]bool{}
	err = c.query(ctx, readApplied, func(rows *sql.Rows) error {
		var stream string
		var sequence, n, amount int64
		if err := rows.Scan(&stream, &sequence, &n, &amount); err != nil {
			return err
		}
		if n > 1 {
			c.add(Streams, Doubled, "message %d of %s was applied %d times", sequence, stream, n)
		}
		s := sums[stream]
		sums[stream] = sum{max(s.last, sequence), s.amount + amount, s.count + n}
		at := onKey{op: journal.Apply, resource: stream, number: sequence}
		applied[at] = true
		if !happened(c.history.keys[at]) {
			c.add(Streams, Doubled, "message %d of %s was applied, and whoever delivered it was told that nothing was done", sequence, stream)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for at, entries := range c.history.keys {
		acknowledged := 0
		for _, e := range entries {
			if at.op == journal.Apply && e.Result == journal.OK && e.Changed {
				acknowledged++
			}
		}
		if acknowledged > 1 {
			c.add(Streams, Duplicate, "message %d of %s was acknowledged as applied to %d callers", at.number, at.resource, acknowledged)
		}
		if acknowledged > 0 && !applied[at] {
			c.add(Streams, Lost, "message %d of %s was acknowledged as applied and is not there", at.number, at.resource)
		}
	}
	return sums, nil
}
