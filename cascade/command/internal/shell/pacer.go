package shell

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/governor"
)

const (
	askEvery    = time.Second     // the throttles
	askPatience = 2 * time.Second // for all throttles together
)

// ShortestPoll is the shortest time between two looks: a shorter one would ask the database all the time.
const ShortestPoll = 10 * time.Millisecond

// Pacer makes work that is no job of a worker's wait between its pages: for its share of the time, and for
// what is more important.
type Pacer struct {
	a         *App
	db        *sql.DB
	load      Load
	throttles []governor.Throttle
	show      *Counter
	begun     time.Time // the page
	asked     time.Time
}

// NewPacer makes a pacer for pages that begin now; a load of 0 is all of the time.
func NewPacer(a *App, db *sql.DB, load Load, throttles []governor.Throttle, show *Counter) *Pacer {
	if load == 0 {
		load = 1
	}
	return &Pacer{a: a, db: db, load: load, throttles: throttles, show: show, begun: time.Now()}
}

// Wait returns when the next page may begin. The error is that of ctx.
func (p *Pacer) Wait(ctx context.Context) error {
	defer func() { p.begun = time.Now() }()
	if err := Rest(ctx, time.Duration(float64(time.Since(p.begun))*float64(1/p.load-1))); err != nil {
		return err
	}
	for time.Since(p.asked) >= askEvery {
		p.asked = time.Now()
		reason := p.reason(ctx)
		if reason == "" {
			break
		}
		p.show.Say(func() string { return "waits: " + p.a.Hide(reason) })
		if err := Rest(ctx, askEvery); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// reason is the first reason of a throttle; one that cannot be asked is a reason, too.
func (p *Pacer) reason(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for _, throttle := range p.throttles {
		reason, err := throttle.Reason(ctx, p.db)
		if err != nil {
			return fmt.Sprintf("a throttle cannot be asked: %v", err)
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// Rest sleeps; the error is that of ctx.
func Rest(ctx context.Context, d time.Duration) error {
	backoff.Sleep(ctx, d)
	return context.Cause(ctx)
}

// Beside runs work, and side beside it until work ends.
func Beside(work func(context.Context) error, side func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() { side(ctx) })
		defer all.Wait()
		defer stop()
		return work(ctx)
	}
}
