package retention

import (
	"context"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
)

const (
	stepEvery = time.Second
	restTime  = 10 * time.Minute // after a turn in which little was found
	stepTime  = 5 * time.Second  // for a step, whoever holds locks
)

// Slowly purges a batch at each step, one kind after the other, and rests when there is nothing left. One
// goroutine uses it at a time.
type Slowly struct {
	Kinds []Kind
	Log   *slog.Logger
	// Purged is told what a step has removed.
	Purged func(kind string, rows int64)

	next  int
	found bool // in this turn there was more than a batch of something
	until time.Time
	told  map[string]bool
}

// Run takes a step each second until ctx ends, but for the time in which the worker waits.
func (s *Slowly) Run(ctx context.Context, db onerow.DB, waits func() bool) {
	for shell.Rest(ctx, stepEvery) == nil {
		if !waits() {
			s.Step(ctx, db)
		}
	}
}

// Step purges one batch of the kind whose turn it is. An error is logged, once for each kind until it goes
// well again, and left to the next turn: nothing depends on it.
func (s *Slowly) Step(ctx context.Context, db onerow.DB) {
	if len(s.Kinds) == 0 || time.Now().Before(s.until) {
		return
	}
	kind := s.Kinds[s.next]
	within, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	n, err := kind.Purge(within, db, Batch)
	if n > 0 && s.Purged != nil {
		s.Purged(kind.Name, n)
	}
	s.tell(ctx, kind, err)
	s.found = s.found || n >= Batch
	if s.next = (s.next + 1) % len(s.Kinds); s.next > 0 {
		return
	}
	if !s.found {
		s.until = time.Now().Add(restTime)
	}
	s.found = false
}

func (s *Slowly) tell(ctx context.Context, kind Kind, err error) {
	if s.told == nil {
		s.told = map[string]bool{}
	}
	if err != nil && ctx.Err() == nil && !s.told[kind.Name] && !NoTable(err) {
		s.Log.WarnContext(ctx, "purge: left to a later time", "what", kind.Name, "tables", kind.Tables, "error", err)
	}
	s.told[kind.Name] = err != nil
}
