package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/page"
)

// server serves the operator's page and the endpoints of one process. Nil serves nothing.
type server struct {
	addr    string
	tokens  map[string]string // names by secret
	log     *slog.Logger
	Metrics *metrics.Metrics
}

// The times and sizes that a client gets. No client can hold up anything but its own
// connection: an answer is rendered before its first byte is sent.
const (
	HeaderTimeout = 5 * time.Second
	ReadTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 300 * time.Millisecond // for answers under way when the process stops
	MaxHeader     = 16 << 10
)

// Page is the worker's page; local says that only this machine can reach it.
func (o *server) Page(w *Working, local bool) page.Options {
	return page.Options{DB: w.DB, Plan: w.Plan, Name: w.Name, Database: w.Database, Tokens: o.tokens, Local: local, Log: o.log, Metrics: o.Metrics.Handler(w.DB, o.log)}
}

// run serves while work runs and returns when both have ended. When the page cannot be
// served, work does not begin, or its context ends.
func (o *server) run(ctx context.Context, w *Working, work func(context.Context) error) error {
	if o == nil {
		return work(ctx)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return cannotListen(o.addr, err)
	}
	bound := listener.Addr().String()
	local := loopback(bound)
	p, err := page.New(o.Page(w, local))
	if err = errors.Join(err, o.Metrics.Watch(w.DB)); err != nil {
		return errors.Join(err, listener.Close())
	}
	web := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: HeaderTimeout, ReadTimeout: ReadTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: MaxHeader,
		ErrorLog:       slog.NewLogLogger(o.log.Handler(), slog.LevelWarn),
	}
	o.log.Info("serving", "url", "http://"+bound+"/", "token", len(o.tokens) > 0, "actions", len(o.tokens) > 0 || local)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	both.Go(func() error { // beside the worker's own stop, so that both fit into two seconds
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err := web.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = web.Close()
		}
		return err
	})
	both.Go(func() error {
		defer stop()
		return shell.Beside(work, p.Run)(ctx)
	})
	return both.Wait()
}

func cannotListen(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--http %s: another process listens there already; choose another port", addr)
	}
	var network *net.OpError
	if errors.As(err, &network) && network.Err != nil {
		err = network.Err
	}
	return fmt.Errorf("--http %s: cannot listen there: %w", addr, err)
}

// loopback says whether only this machine can reach the address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
