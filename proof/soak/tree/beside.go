package tree

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// beside deletes the rows with these settings while the foreground asks, for as long as
// the window is, and the rest at full speed; with -spin it deletes nothing. It returns the
// rate in the window and how many times the p99 of the foreground without the deletion its
// p99 beside it was. Periods with and without the deletion take turns: a machine is not as
// fast as it was a minute ago. Of the ratio of all requests and the median of the rounds'
// the greater one counts: a machine that stumbles in one round moves the first, either way.
// The foreground may be another server's than db and dsn.
func (s *size) beside(ctx context.Context, fg *foreground, db *sql.DB, dsn string, settings []string) (perSecond, ratio float64, err error) {
	account, below, err := plant(ctx, db, s.rows)
	if err != nil {
		return 0, 0, err
	}
	capacity, err := fg.capacity(ctx, s.measure)
	if err != nil {
		return 0, 0, err
	}
	rate := capacity * s.share
	fmt.Printf("planted %d rows again, and the foreground's: capacity %.0f requests/s; it asks for %.0f/s\n", below, capacity, rate)
	job, err := condemn(ctx, db, account)
	if err != nil {
		return 0, 0, err
	}
	var quiet, during []time.Duration
	var ratios []float64
	var spent time.Duration
	ended := false
	for round := 0; round < s.rounds && !ended; round++ {
		q, err := s.quiet(ctx, fg, rate)
		if err != nil {
			return 0, 0, err
		}
		f, d, err := s.during(ctx, dsn, fg, rate, settings)
		if err != nil {
			return 0, 0, err
		}
		quiet, during, spent = append(quiet, q...), append(during, f...), spent+d
		fmt.Printf("round %d, foreground alone:  %s\n         beside it:         %s\n", round+1, describe(q), describe(f))
		ended = d < s.period() // so few requests have no p99 of their own, but with -short nobody asks for it
		if !ended || s.short && round == 0 {
			ratios = append(ratios, over(f, q))
		}
	}
	if len(ratios) == 0 {
		return 0, 0, errors.New("all was deleted within the first round: more -rows or more -rounds are needed to measure a foreground beside it")
	}
	slices.Sort(quiet)
	slices.Sort(during)
	slices.Sort(ratios)
	all, median := over(during, quiet), ratios[len(ratios)/2]
	fmt.Printf("foreground alone:            %s\nforeground beside it:        %s\np99 beside over alone: %.2f of all requests, %.2f the median of %d rounds (%.2f)\n", describe(quiet), describe(during), all, median, len(ratios), ratios)
	if s.spin {
		return 0, max(all, median), nil
	}
	if job, err = queue.Get(ctx, db, job.ID); err != nil {
		return 0, 0, err
	}
	perSecond = float64(job.DeletedRows) / spent.Seconds()
	fmt.Printf("deleted %d rows beside it in %v, %.0f rows/s %v\n", job.DeletedRows, spent.Round(time.Millisecond), perSecond, settings)
	if _, err := drained(ctx, dsn); err != nil {
		return 0, 0, err
	}
	_, done, err := took(ctx, db, job.ID)
	if err == nil && done.DeletedRows != below {
		err = fmt.Errorf("%d rows were below the account, the job counted %d", below, done.DeletedRows)
	}
	return perSecond, max(all, median), err
}

// over is how many times the p99 of the other the p99 of one is.
func over(one, other []time.Duration) float64 {
	return float64(percentile(one, .99)) / float64(percentile(other, .99))
}

// during is what the foreground feels until the window or the deletion ends, and how long that was.
func (s *size) during(ctx context.Context, dsn string, fg *foreground, rate float64, settings []string) ([]time.Duration, time.Duration, error) {
	window, done := context.WithTimeout(ctx, s.period())
	defer done()
	begin := time.Now()
	worked := make(chan error, 1)
	go func() {
		var err error
		if s.spin {
			err = spun(window, settings...)
		} else {
			_, err = drained(window, dsn, settings...)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		worked <- err
		done()
	}()
	felt, err := fg.open(window, rate)
	d := time.Since(begin)
	return felt, d, errors.Join(err, <-worked)
}

// quiet is what the foreground feels without the deletion, when the server has caught up
// with what was deleted before.
func (s *size) quiet(ctx context.Context, fg *foreground, rate float64) (felt []time.Duration, err error) {
	for _, d := range []time.Duration{s.settle, s.period()} {
		period, cancel := context.WithTimeout(ctx, d)
		felt, err = fg.open(period, rate)
		cancel()
		if err != nil {
			return nil, err
		}
	}
	return felt, nil
}

func (s *size) period() time.Duration { return s.window / time.Duration(s.rounds) }
