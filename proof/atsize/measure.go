package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
)

// counters are a session's.
type counters struct{ read, statements int64 }

func (c counters) minus(d counters) counters {
	return counters{c.read - d.read, c.statements - d.statements}
}

// result is what came of a verb.
type result struct {
	counters
	calls   int
	medians []time.Duration // of each round
	all     []time.Duration
}

// sqlCounters reads the session's own counters, no table.
const sqlCounters = `SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name = 'Questions'`

func (s *size) counters(ctx context.Context) (c counters, err error) {
	err = onerow.Query(ctx, s.db, sqlCounters, nil, func(rows *sql.Rows) error {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if strings.EqualFold(name, "Questions") {
			c.statements += n
		} else {
			c.read += n
		}
		return err
	})
	return c, err
}

// measure calls a verb some times. Round 0 warms up, and learns what reading the counters costs.
func (s *size) measure(ctx context.Context, at int, v verb, round, calls int) error {
	before, err := s.counters(ctx)
	if err != nil {
		return err
	}
	if round == 0 && at == 0 {
		after, err := s.counters(ctx)
		if err != nil {
			return err
		}
		s.own, before = after.minus(before), after
	}
	times := make([]time.Duration, 0, calls)
	for n := range calls {
		begin := time.Now()
		if err := v.call(ctx, s, round*calls+n); err != nil {
			return err
		}
		times = append(times, time.Since(begin))
	}
	after, err := s.counters(ctx)
	if err != nil {
		return err
	}
	if len(s.results) <= at {
		s.results = append(s.results, result{})
	}
	if round == 0 {
		return nil
	}
	spent, r := after.minus(before).minus(s.own), &s.results[at]
	r.calls += calls
	r.read += spent.read
	r.statements += spent.statements
	r.all = append(r.all, times...)
	slices.Sort(times)
	r.medians = append(r.medians, times[len(times)/2])
	return nil
}

// within is the promise.
const within = 1.3

func report(list []verb, sizes [2]*size) error {
	fmt.Printf("\n| verb | statements | rows examined | median beside %d | beside %d | ratio | p99 | p99 |\n|---|---|---|---|---|---|---|---|\n", sizes[0].rows, sizes[1].rows)
	var broken []error
	for at, v := range list {
		few, many := &sizes[0].results[at], &sizes[1].results[at]
		ratios := make([]float64, len(few.medians))
		for i := range ratios {
			ratios[i] = float64(many.medians[i]) / float64(few.medians[i])
		}
		ratio := middle(ratios, 0.5)
		per := func(n int64) string { return strconv.FormatFloat(float64(n)/float64(few.calls), 'g', 4, 64) }
		both := func(a, b int64) string {
			if a == b {
				return per(a)
			}
			return per(a) + " → " + per(b)
		}
		fmt.Printf("| %s | %s | %s | %v | %v | %.2f | %v | %v |\n", v.name, both(few.statements, many.statements), both(few.read, many.read),
			short(middle(few.medians, 0.5)), short(middle(many.medians, 0.5)), ratio, short(middle(few.all, 0.99)), short(middle(many.all, 0.99)))
		if few.counters != many.counters {
			broken = append(broken, fmt.Errorf("%s: not the same statements or rows: %+v and %+v in %d calls", v.name, few.counters, many.counters, few.calls))
		}
		if ratio > within {
			broken = append(broken, fmt.Errorf("%s: %.2f times the time", v.name, ratio))
		}
	}
	return errors.Join(broken...)
}

func short(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// middle is a quantile.
func middle[T time.Duration | float64](list []T, share float64) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
