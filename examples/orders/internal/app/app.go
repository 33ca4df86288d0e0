package app

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/demo"
	"github.com/onerow/onerow/examples/orders/internal/shop"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
)

// Config is how the example runs.
type Config struct {
	// Serve serves the API on Addr until the context ends; otherwise the stories are told.
	Serve bool
	Addr  string
	// DSN of the server; empty: ONEROW_DSN. The stories make a database of their own there and drop it.
	DSN string
	// Seed is the bank's.
	Seed int64
	// ChargeTime is how long the bank's answer is waited for.
	ChargeTime time.Duration
	// Hold is how long the bank's card "held" waits. Default 2 seconds.
	Hold time.Duration
	// Out gets the stories, or "listening on http://…"; Log everything else.
	Out io.Writer
	Log *slog.Logger
}

// keep is how long a key answers. A real service publishes this to its clients.
const keep = 30 * 24 * time.Hour

// poll is how often the idle worker looks at the queues.
const poll = 250 * time.Millisecond

// maxConns is how many connections the pool has: each request needs one at a time.
const maxConns = 20

// withDatabase runs fn with a pool on the database that is told, for the stories on a new one.
func withDatabase(ctx context.Context, c Config, fn func(db *sql.DB) error) (err error) {
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
	}
	return fn(place.DB)
}

// Run runs the example. When ctx ends it stops everything; that is no error with Serve, and the context's
// otherwise.
func Run(ctx context.Context, c Config) error {
	if c.Serve {
		return withDatabase(ctx, c, func(db *sql.DB) error {
			return With(ctx, db, c, func(ctx context.Context, w demo.World) error {
				if _, err := fmt.Fprintf(c.Out, "listening on %s\n", w.URL); err != nil {
					return err
				}
				return w.Carts.Run(ctx, poll, c.Log)
			})
		})
	}
	c.Addr = "127.0.0.1:0"
	return withDatabase(ctx, c, func(db *sql.DB) error {
		c.Hold = time.Minute // the story lets go itself
		return With(ctx, db, c, demo.Tell)
	})
}

// With starts the example on a database and runs fn beside it; when fn returns, ctx ends or a part fails,
// everything is stopped. The error is the first one.
func With(ctx context.Context, db *sql.DB, c Config, fn func(ctx context.Context, w demo.World) error) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with -addr", c.Addr, err)
	}
	// Serve closes it, too, if it comes that far.
	defer func() {
		if cerr := listener.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}()
	if err := store.Migrate(ctx, db); err != nil {
		return err
	}
	url, secret := "http://"+listener.Addr().String(), rand.Text()
	service, err := bank.Start(ctx, bank.Config{DB: db, Notices: url + "/bank/notices", Secret: secret, Seed: c.Seed, Hold: c.Hold, Log: c.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	keys, err := idempotency.New(idempotency.Config{Keep: keep, Expected: 2 * c.ChargeTime, Log: c.Log})
	if err != nil {
		return err
	}
	api, err := shop.New(shop.Config{DB: db, Keys: keys, Bank: service.URL(), Secret: secret, ChargeTime: c.ChargeTime,
		Customers: map[string]string{"sk_ada": "ada", "sk_bob": "bob"}, Log: c.Log})
	if err != nil {
		return err
	}
	w := demo.World{DB: db, Keys: keys, Shop: api, Bank: service, Carts: &carts.Validator{DB: db}, URL: url, Out: c.Out}
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
	serve(inner, parts, listener, api.Handler(), c)
	return parts.Wait()
}

// Limits of a connection.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	// stopTime is how long requests may go on after the context ended. A charge that is cut off then is seen
	// as unclear by the next start: its key stays in progress and becomes overdue.
	stopTime = 1500 * time.Millisecond
)

// serve answers requests until ctx ends.
func serve(ctx context.Context, parts *errgroup.Group, listener net.Listener, handler http.Handler, c Config) {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	parts.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	parts.Go(func() error {
		<-ctx.Done()
		c.Log.Info("stopping")
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			c.Log.Warn("requests were cut off", "error", err)
			return server.Close()
		}
		return nil
	})
}
