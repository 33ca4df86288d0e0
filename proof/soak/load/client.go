package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/serial"

	"github.com/onerow/onerow/proof/soak/journal"
)

const (
	attempt    = 6 * time.Second        // for one call of a verb
	impatience = 100 * time.Millisecond // of a visitor who closes the page
	attempts   = 8                      // of a call whose outcome is unknown
	think      = 8 * time.Millisecond
)

// web is a process of clients.
type web struct {
	cfg      Config
	db       *sql.DB
	log      *journal.Writer
	projects *repo.Repo[Project]
	screens  *repo.Repo[Screen]
	comments *repo.Repo[Comment]
	rule     *quota.Rule
	keys     *idempotency.Keys
	series   []*serial.Series
	guard    ordering.Guard[Total]
	counter  atomic.Int64 // of fresh keys
	ok       atomic.Int64
	refused  atomic.Int64
	failed   atomic.Int64
	unknown  atomic.Int64
}

// client is one of them.
type client struct {
	*web
	rand *rand.Rand
}

func newWeb(db *sql.DB, cfg Config) (w *web, err error) {
	w = &web{cfg: cfg, db: db, guard: ordering.Guard[Total]{Consumer: Consumer}}
	plan := Plan(cfg.Cluster)
	if w.projects, err = repo.New[Project](plan, ProjectResource); err != nil {
		return nil, err
	}
	if w.screens, err = repo.New[Screen](plan, ScreenResource); err != nil {
		return nil, err
	}
	if w.comments, err = repo.New[Comment](plan, CommentResource); err != nil {
		return nil, err
	}
	if w.rule, err = Rule(cfg.Cluster); err != nil {
		return nil, err
	}
	if w.keys, err = idempotency.New(idempotency.Config{Name: cfg.Name}); err != nil {
		return nil, err
	}
	for _, name := range Series {
		s, err := serial.New(name)
		if err != nil {
			return nil, err
		}
		w.series = append(w.series, s)
	}
	w.log, err = journal.NewWriter(cfg.Journal)
	return w, err
}

// runWeb runs the clients until ctx ends, and says once a second what they have done.
func runWeb(ctx context.Context, db *sql.DB, cfg Config, connections *atomic.Int64, out io.Writer) (err error) {
	w, err := newWeb(db, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.log.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, cfg.Clients)
	var all sync.WaitGroup
	for i := range cfg.Clients {
		c := &client{web: w, rand: rand.New(rand.NewPCG(cfg.Seed, uint64(i)))} //nolint:gosec // no secret, and i is small
		all.Go(func() {
			defer cancel() // without its journal a client must not go on, nor the others without it
			errs[i] = c.run(ctx)
		})
	}
	tick := func() Tick {
		return Tick{OK: w.ok.Load(), Refused: w.refused.Load(), Failed: w.failed.Load(), Unknown: w.unknown.Load(), Connections: connections.Load()}
	}
	err = tell(ctx, out, tick, func() { cancel(); all.Wait() })
	return errors.Join(append(errs, err)...)
}

// run works until ctx ends. The error is one of the journal.
func (c *client) run(ctx context.Context) error {
	for pause(ctx, c.upTo(2*think)) {
		if err := c.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// call is one operation: the entry is journaled, fn is called and says in the entry what it was told. again:
// fn may be called again after an unknown outcome.
func (c *client) call(ctx context.Context, e journal.Entry, again bool, fn func(ctx context.Context, e *journal.Entry) error) (journal.Entry, error) {
	e, err := c.log.Begin(e)
	if err != nil {
		return e, err
	}
	for n := 1; ; n++ {
		// Not the process's context: what was begun is finished.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.patience())
		err = fn(limited, &e)
		cancel()
		e.Result = resultOf(err)
		unknown := e.Result == journal.Unknown
		if errors.Is(err, repo.ErrGone) { // it was made, by an earlier attempt or by another's call, and was deleted since
			e.Maybe = true
			break
		}
		if e.Result == journal.OK || !e.Maybe && !unknown {
			break
		}
		// An attempt whose outcome is unknown is behind this call, so that a refusal says nothing about that
		// one.
		e.Maybe = true
		if !again || n == attempts || e.Result == journal.Refused || !pause(ctx, time.Duration(n)*50*time.Millisecond) {
			e.Result = journal.Unknown
			break
		}
	}
	c.note(e.Result)
	if err != nil {
		e.Error = short(err)
	}
	return e, c.log.End(e)
}

// patience is how long a call may take.
func (c *client) patience() time.Duration {
	if c.rand.IntN(20) == 0 {
		return time.Millisecond + c.upTo(impatience)
	}
	return attempt
}

func (w *web) note(r journal.Result) {
	switch r {
	case journal.OK:
		w.ok.Add(1)
	case journal.Refused:
		w.refused.Add(1)
	case journal.Failed:
		w.failed.Add(1)
	case journal.Unknown:
		w.unknown.Add(1)
	}
}

// refusals are answers by a rule.
var refusals = []error{
	onerow.ErrNotFound, repo.ErrNameTaken, repo.ErrGone, repo.ErrNotActive, repo.ErrParentNotFound, repo.ErrTooLate,
	repo.ErrConflict, repo.ErrNoFreeName, idempotency.ErrFailed, idempotency.ErrInProgress, idempotency.ErrLost, errChangedMind,
	queue.ErrNoJob, queue.ErrWrongState, queue.ErrOpenJob,
}

// resultOf sorts an error as the toolkit's documentation lets its users do: what is not ErrOutcomeUnknown has
// not been done.
func resultOf(err error) journal.Result {
	switch {
	case err == nil:
		return journal.OK
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return journal.Unknown
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return journal.Refused
		}
	}
	return journal.Failed
}

const longestError = 300

func short(err error) string {
	text := err.Error()
	return text[:min(len(text), longestError)]
}

func (c *client) upTo(d time.Duration) time.Duration { return time.Duration(c.rand.Int64N(int64(d))) }

// fresh is a key that nobody else has.
func (c *client) fresh() string { return fmt.Sprintf("%s-%d", c.cfg.Name, c.counter.Add(1)) }

// shared is a key that clients of all processes draw at about the same time.
func (c *client) shared(every time.Duration, of int) string {
	return fmt.Sprintf("w%d-%d", (time.Now().UnixNano()-c.cfg.Began)/int64(every), c.rand.IntN(of))
}

// hash makes what belongs to a key the same for all who draw it.
func hash(key string, n int) int {
	return int(crc32.ChecksumIEEE([]byte(key)) % uint32(n)) //nolint:gosec // n is a small constant
}
