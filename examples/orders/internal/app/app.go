// Package app puts the example together: the database, the bank, the shop, the worker of the queues, or the
// two stories.
//
//	connected ─► listen ─► migrated ─► bank ─► shop ─┬─ -serve: "listening on …", until the context ends
//	                                                 └─ else: the stories
//	exit ◄─ pool closed ◄─ bank stopped ◄─ requests ended
package app

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/shop"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
)

// Config is how the example runs.
type Config struct {
	connect.Server
	// Serve serves the API on Addr until the context ends; otherwise the stories are told, in a database of
	// their own.
	Serve bool
	// ChargeTime is how long the bank's answer is waited for.
	ChargeTime time.Duration
	// Out gets the stories, or "listening on http://…"; Log everything else.
	Out io.Writer
}

const (
	// keep is how long a key answers. A real service publishes this to its clients.
	keep = 30 * 24 * time.Hour
	// readTime is how long a request may take to be read. A charge that is cut off when the example stops is
	// seen as unclear by the next start: its key stays in progress and becomes overdue.
	readTime = 30 * time.Second
	// maxConns is how many connections the pool has: each request needs one at a time.
	maxConns = 20
)

// Run runs the example. When ctx ends it stops everything; that is no error with Serve, and the context's
// otherwise.
func Run(ctx context.Context, c Config) (err error) {
	place, err := connect.Open(ctx, c.DSN, "orders", !c.Serve, maxConns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	c.Log.Info("database", "server", place.Server, "name", place.Name)
	if !c.Serve {
		if _, err := fmt.Fprintf(c.Out, "On %s, in the database %s of its own.\n", place.Server, place.Name); err != nil {
			return err
		}
		c.Addr = "127.0.0.1:0"
		return With(ctx, place.DB, c, Tell)
	}
	return With(ctx, place.DB, c, func(ctx context.Context, w World) error {
		if _, err := fmt.Fprintf(c.Out, "listening on %s\n", w.URL); err != nil {
			return err
		}
		return carts.Run(ctx, w.DB, c.Log)
	})
}

// With starts the example on a database and runs fn beside it; when fn returns, ctx ends or a part fails,
// everything is stopped. The error is the first one.
func With(ctx context.Context, db *sql.DB, c Config, fn func(ctx context.Context, w World) error) (err error) {
	listener, err := connect.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	if err := store.Migrate(ctx, db); err != nil {
		return err
	}
	url, secret := "http://"+listener.Addr().String(), rand.Text()
	service := &bank.Bank{DB: db, Notices: url + "/bank/notices", Secret: secret, Log: c.Log}
	if err := service.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	keys, err := idempotency.New(idempotency.Config{Keep: keep, Expected: 2 * c.ChargeTime, Log: c.Log})
	if err != nil {
		return err
	}
	api, err := shop.New(shop.Config{DB: db, Keys: keys, Bank: service.URL(), Secret: secret, ChargeTime: c.ChargeTime, Log: c.Log})
	if err != nil {
		return err
	}
	w := World{DB: db, Keys: keys, Shop: api, Bank: service, URL: url, Out: c.Out}
	parts, inner := errgroup.WithContext(ctx)
	inner, done := context.WithCancel(inner)
	defer done()
	parts.Go(func() error {
		defer done()
		err := fn(inner, w)
		if err != nil && ctx.Err() != nil { // the server stopped under a request
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return err
	})
	parts.Go(func() error { return connect.Serve(inner, listener, api.Handler(), readTime, c.Log) })
	return parts.Wait()
}
