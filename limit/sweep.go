package limit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
)

// Config of a [Sweeper]. The zero value is valid.
type Config struct {
	// Batch is how many reservations and how many owners of a limit one RunOnce takes on. Default 100.
	Batch int
	// Pause is between two runs that found less than a batch. Default 5 s.
	Pause time.Duration
	// Every is how often each owner is counted, whether or not anything was noted. Default 24 h; negative:
	// only what was noted.
	Every time.Duration
	// Log gets errors and corrections. Default: slog.Default().
	Log *slog.Logger
}

// SweepResult is what one [Sweeper.RunOnce] did.
type SweepResult struct {
	// Expired is the number of reservations whose room was given back.
	Expired int `json:"expired"`
	// Counted is the number of owners that were counted, Corrected of how many of them the room was wrong
	// though nothing had been noted.
	Counted   int `json:"counted"`
	Corrected int `json:"corrected"`
	// Failed is the number of reservations and owners that could not be dealt with.
	Failed int `json:"failed"`
	// More says that a batch was full, so that RunOnce should be called again at once.
	More bool `json:"more"`
}

// Sweeper gives the room of expired reservations back and counts: owners of whom the cascade deleted rows at
// once, all others once in a while. Any number of sweepers may run at once. Safe for concurrent use.
type Sweeper struct {
	db     *sql.DB
	config Config

	mu    sync.Mutex
	rules []*lap
}

// lap is where a sweep of one rule is: owners that fail are met again in the next lap.
type lap struct {
	rule  *Rule
	noted string // the last owner
	over  int64  // when the last reservation was over, in microseconds
}

// NewSweeper returns a sweeper for these limits. It starts nothing.
func NewSweeper(db *sql.DB, c Config, rules ...*Rule) *Sweeper {
	c.Batch = cmp.Or(max(c.Batch, 0), 100)
	c.Pause = cmp.Or(max(c.Pause, 0), 5*time.Second)
	c.Every = cmp.Or(c.Every, 24*time.Hour)
	c.Log = cmp.Or(c.Log, slog.Default())
	s := &Sweeper{db: db, config: c}
	for _, rule := range rules {
		s.rules = append(s.rules, &lap{rule: rule})
	}
	return s
}

// Run sweeps until ctx ends, then returns nil. What goes wrong is logged and tried again.
func (s *Sweeper) Run(ctx context.Context) error {
	recount.Sweep(ctx, s.config.Pause, func(ctx context.Context) bool {
		res, err := s.RunOnce(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			s.config.Log.ErrorContext(ctx, "limit: sweep", "failed", res.Failed, "error", err)
		}
		if res.Corrected > 0 {
			s.config.Log.WarnContext(ctx, "limit: room was wrong and nothing had been noted", "owners", res.Corrected)
		}
		return res.More && res.Expired+res.Counted > 0
	})
	return nil
}

// RunOnce does one batch of each kind for each limit. One failure does not keep it from the next; the errors
// are joined. Statements: 3 for each limit, 5 for each reservation that is over, those of [Rule.Recount] for
// each owner.
func (s *Sweeper) RunOnce(ctx context.Context) (SweepResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var res SweepResult
	var errs []error
	for _, l := range s.rules {
		errs = append(errs, s.expired(ctx, l, &res),
			s.count(ctx, l.rule, &l.noted, &res, sqlNoted, l.rule.name, []byte(l.noted), s.config.Batch))
		if s.config.Every >= 0 {
			errs = append(errs, s.count(ctx, l.rule, new(string), &res, sqlDue, l.rule.name, s.config.Every.Microseconds(), s.config.Batch))
		}
	}
	return res, errors.Join(errs...)
}

// sqlExpired reads a range of the index expires_at. Plain read.
const sqlExpired = `SELECT owner, reservation_key, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expires_at) FROM onerow_reservation
 WHERE name = ? AND expires_at <= UTC_TIMESTAMP(6) AND expires_at > TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND
 ORDER BY expires_at LIMIT ?`

func (s *Sweeper) expired(ctx context.Context, l *lap, res *SweepResult) error {
	type one struct{ owner, key string }
	r, last := l.rule, int64(0)
	var over []one
	err := onerow.Query(ctx, s.db, sqlExpired, []any{r.name, l.over, s.config.Batch}, func(rows *sql.Rows) error {
		var o one
		err := rows.Scan(&o.owner, &o.key, &last)
		over = append(over, o)
		return err
	})
	if err != nil {
		return errtext.Wrap(err, "limit: reservations of %q that are over", r.name)
	}
	if l.over = 0; len(over) == s.config.Batch {
		l.over, res.More = last, true
	}
	return recount.Each(ctx, over, &res.Failed, func(o one) error {
		owner, err := r.owner.Decode(o.owner)
		if err == nil {
			err = r.drop(ctx, s.db, owner, o.key, ifOver)
		}
		if err != nil {
			return errtext.Wrap(err, "limit: a reservation of %q for owner %s", r.name, o.owner)
		}
		res.Expired++
		return nil
	})
}

// sqlNoted reads a range of the index counted_at, which ends with the primary key. Plain read.
const sqlNoted = `SELECT owner FROM onerow_limit WHERE name = ? AND counted_at IS NULL AND owner > ? ORDER BY owner LIMIT ?`

// sqlDue reads a range of the index counted_at. Plain read.
const sqlDue = `SELECT owner FROM onerow_limit WHERE name = ? AND counted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY counted_at LIMIT ?`

// count counts the owners that a query finds. One that fails is noted, so that it holds nobody up who is due.
// last becomes the last owner of a batch that is full, and stays as it is where the query fails.
func (s *Sweeper) count(ctx context.Context, r *Rule, last *string, res *SweepResult, query string, args ...any) error {
	var owners []string
	err := onerow.Query(ctx, s.db, query, args, func(rows *sql.Rows) error {
		var owner string
		err := rows.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	if err != nil {
		return errtext.Wrap(err, "limit: owners that are to be counted")
	}
	if *last = ""; len(owners) == s.config.Batch {
		*last, res.More = owners[len(owners)-1], true
	}
	return recount.Each(ctx, owners, &res.Failed, func(key string) error {
		o, err := r.owner.Decode(key)
		var drift int64
		if err == nil {
			drift, err = r.recount(ctx, s.db, o)
		}
		if err != nil {
			return errors.Join(err, recount.Limit(ctx, s.db, r.name, key))
		}
		res.Counted++
		if drift != 0 {
			res.Corrected++
		}
		return nil
	})
}
