package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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

// Listen listens on an address of the command line.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with -addr", addr, err)
	}
	return listener, nil
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
