package connect

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Limits of a connection.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	// stopTime is how long requests may go on after the context ended.
	stopTime = 1500 * time.Millisecond
)

// Server is what the command line says to an example that serves.
type Server struct {
	// Addr is where it listens; port 0 takes a free one.
	Addr string
	// DSN of the database's server; empty: ONEROW_DSN. Its database, or one of the example's name, is made if
	// it is missing.
	DSN string
	Log *slog.Logger
}

// Declare declares the flags of a server. The function that it returns makes Log when they are read, from a
// level on.
func (s *Server) Declare(flags *flag.FlagSet, addr string) func(slog.Level) {
	flags.StringVar(&s.Addr, "addr", addr, "`address` to listen on; port 0 takes a free one")
	flags.StringVar(&s.DSN, "dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/database; default: "+EnvDSN)
	verbose := flags.Bool("v", false, "log details")
	return func(level slog.Level) {
		if *verbose {
			level = slog.LevelDebug
		}
		s.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	}
}

// listener may be closed twice: by [Serve], and by a program that perhaps never came that far.
type listener struct {
	net.Listener
	close func() error
}

func (l listener) Close() error { return l.close() }

// Listen listens on an address of the command line.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with -addr", addr, err)
	}
	return listener{l, sync.OnceValue(l.Close)}, nil
}

// Serve answers requests until ctx ends, and returns nil then. It closes the listener. A request must be
// read within readTime; 0 leaves that to the handler. What is not finished soon after the end is cut off.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, readTime time.Duration, log *slog.Logger) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping")
	grace, cancel := context.WithTimeout(base, stopTime)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		log.Warn("requests were cut off", "error", err)
		err = server.Close()
	}
	if serr := <-failed; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
