package quota

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
)

// Config of a [Sweeper]. The zero value is valid.
type Config struct {
	// Batch is how many marks of a rule one RunOnce takes on, and how many owners it re-checks. Default 100.
	Batch int
	// Every is the pause between two runs that found less than a batch. Default 5 s.
	Every time.Duration
	// Recheck is for how long an owner counts as changed lately. Default 15 min; negative: nobody is
	// re-checked.
	Recheck time.Duration
	// RecheckEvery is how often all owners that changed lately are looked at again. Default 1 min.
	RecheckEvery time.Duration
	// Log gets errors and corrections. Default: slog.Default().
	Log *slog.Logger
}

// SweepResult is what one [Sweeper.RunOnce] did.
type SweepResult struct {
	// Recalculated is the number of owners that had marks and have been dealt with.
	Recalculated int `json:"recalculated"`
	// Rechecked is the number of owners that were looked at because they changed lately, Corrected of how
	// many of them flags were wrong.
	Rechecked int `json:"rechecked"`
	Corrected int `json:"corrected"`
	// Failed is the number of owners that could not be dealt with; their marks stay.
	Failed int `json:"failed"`
	// More says that a batch was full, so that RunOnce should be called again at once.
	More bool `json:"more"`
}

// Sweeper settles what requests left behind: it recalculates the owners that have marks, oldest mark first,
// and looks again at owners that changed lately. Any number of sweepers, in any number of processes, may run
// at once; they share the work badly but never disagree. Safe for concurrent use.
type Sweeper struct {
	db     *sql.DB
	config Config

	mu   sync.Mutex
	laps []*lap // one for each rule
}

// lap is where a sweep of one rule is. It only spreads the work; whoever starts again starts with the oldest
// mark.
type lap struct {
	rule *Rule
	// mark is the last one that this lap has read. An owner that fails is met again in the next lap, so it
	// holds nobody up.
	mark   int64
	failed map[string]bool
	// The re-check: when this lap began, and the last owner's change and key.
	began     time.Time
	running   bool
	changedAt int64
	owner     string
}

// NewSweeper returns a sweeper for these rules. It starts nothing.
func NewSweeper(db *sql.DB, c Config, rules ...*Rule) *Sweeper {
	c.Batch = cmp.Or(max(c.Batch, 0), 100)
	c.Every = cmp.Or(max(c.Every, 0), 5*time.Second)
	c.Recheck = cmp.Or(c.Recheck, 15*time.Minute)
	c.RecheckEvery = cmp.Or(max(c.RecheckEvery, 0), time.Minute)
	c.Log = cmp.Or(c.Log, slog.Default())
	s := &Sweeper{db: db, config: c}
	for _, rule := range rules {
		s.laps = append(s.laps, &lap{rule: rule})
	}
	return s
}

// Run sweeps until ctx ends, then returns nil. What goes wrong is logged and tried again.
func (s *Sweeper) Run(ctx context.Context) error {
	recount.Sweep(ctx, s.config.Every, func(ctx context.Context) bool {
		res, err := s.RunOnce(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			s.config.Log.ErrorContext(ctx, "quota: sweep", "failed", res.Failed, "error", err)
		}
		if res.Corrected > 0 {
			s.config.Log.WarnContext(ctx, "quota: flags were wrong and nothing had been marked", "owners", res.Corrected)
		}
		return res.More && err == nil
	})
	return nil
}

// RunOnce does one batch of each kind for each rule. One owner's failure does not keep it from the next; the
// errors are joined. Statements: two for each rule, and for each owner with marks one and those of
// [Rule.Recalculate], for each owner that changed lately those that find wrong flags in a transaction (no
// write when all are right).
func (s *Sweeper) RunOnce(ctx context.Context) (SweepResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var res SweepResult
	var errs []error
	for _, l := range s.laps {
		errs = append(errs, s.settle(ctx, l, &res), s.recheck(ctx, l, &res))
	}
	return res, errors.Join(errs...)
}

// A batch of marks, oldest first, by the primary key: a lap reads each mark once. (A batch of owners would
// have to read all marks to know which is an owner's oldest.) Plain read.
const sqlOldestMarks = `SELECT owner, id FROM onerow_quota_mark FORCE INDEX (PRIMARY) WHERE resource = ? AND id > ? ORDER BY id LIMIT ?`

func (s *Sweeper) settle(ctx context.Context, l *lap, res *SweepResult) error {
	var owners []string
	marks, last := 0, int64(0)
	if l.mark == 0 {
		l.failed = map[string]bool{}
	}
	seen := maps.Clone(l.failed)
	err := onerow.Query(ctx, s.db, sqlOldestMarks, []any{l.rule.resource, l.mark, s.config.Batch}, func(rows *sql.Rows) error {
		var owner string
		err := rows.Scan(&owner, &last)
		if marks++; !seen[owner] {
			seen[owner], owners = true, append(owners, owner)
		}
		return err
	})
	if err != nil {
		return errtext.Wrap(err, "quota: owners of %s with marks", l.rule.resource)
	}
	// A full batch has more behind it; otherwise the next lap begins.
	if l.mark = 0; marks == s.config.Batch {
		l.mark, res.More = last, true
	}
	return recount.Each(ctx, owners, &res.Failed, func(key string) error {
		o, err := l.rule.owner.Decode(key)
		if err != nil {
			err = errtext.Wrap(err, "quota: owner of a mark of %s", l.rule.resource)
		} else {
			err = l.rule.settle(ctx, s.db, o)
		}
		switch {
		case err == nil:
			res.Recalculated++
		case ctx.Err() == nil: // else the owner is not to blame
			l.failed[key] = true
		}
		return err
	})
}

// Owners that changed lately, in the order of their change, a page from the last one's key on. The index
// changed_at ends with the primary key. Plain read.
const sqlChangedOwners = `SELECT owner, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at) AS at FROM onerow_quota_owner FORCE INDEX (changed_at)
 WHERE resource = ? AND changed_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
 AND (changed_at > TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND OR changed_at = TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND AND owner > ?)
 ORDER BY changed_at, owner LIMIT ?`

func (s *Sweeper) recheck(ctx context.Context, l *lap, res *SweepResult) error {
	if s.config.Recheck < 0 || !l.running && !l.began.IsZero() && time.Since(l.began) < s.config.RecheckEvery {
		return nil
	}
	if !l.running {
		l.running, l.began, l.changedAt, l.owner = true, time.Now(), 0, ""
	}
	var owners []string
	err := onerow.Query(ctx, s.db, sqlChangedOwners, []any{l.rule.resource, s.config.Recheck.Microseconds(),
		l.changedAt, l.changedAt, l.owner, s.config.Batch}, func(rows *sql.Rows) error {
		err := rows.Scan(&l.owner, &l.changedAt)
		owners = append(owners, l.owner)
		return err
	})
	if err != nil {
		return errtext.Wrap(err, "quota: owners of %s that changed lately", l.rule.resource)
	}
	if l.running = len(owners) == s.config.Batch; l.running {
		res.More = true
	}
	return recount.Each(ctx, owners, &res.Failed, func(key string) error {
		corrected, err := s.recheckOwner(ctx, l.rule, key)
		if err == nil {
			res.Rechecked++
		}
		if corrected {
			res.Corrected++
		}
		return err
	})
}

// recheckOwner looks by plain reads and recalculates only if something seems wrong. At READ COMMITTED a
// change between two reads may look wrong; then the recalculation knows better.
func (s *Sweeper) recheckOwner(ctx context.Context, rule *Rule, key string) (corrected bool, err error) {
	o, err := rule.owner.Decode(key)
	if err != nil {
		return false, errtext.Wrap(err, "quota: owner of %s", rule.resource)
	}
	var wrong wrongRows
	// It writes nothing, so it may run again after a lost COMMIT, too.
	err = onerow.InIdempotentTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		wrong, err = rule.survey(ctx, tx, o)
		return err
	})
	if err != nil {
		return false, errtext.Wrap(err, "quota: check owner %s of %s", key, rule.resource)
	}
	if wrong.count() == 0 {
		return false, nil
	}
	res, err := rule.recalculateAll(ctx, s.db, o)
	return res.Changed > 0 && res.Marks == 0, err
}
