package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// envToken stands in for --http-token.
const envToken = "ONEROW_HTTP_TOKEN" //nolint:gosec // a name, no credential

// shortestToken is what nobody guesses, if it is random.
const shortestToken = 16

// httpFlags are run's flags for its page and its endpoints.
type httpFlags struct {
	HTTP      string `name:"http" placeholder:"ADDR" help:"Serve the operator's page, /metrics, /healthz and /readyz on this address; :9090 means 127.0.0.1:9090."`
	HTTPToken string `name:"http-token" placeholder:"TOKEN" help:"Ask for this token on the page and on /metrics; 16 characters or more. Better in the environment ($$ONEROW_HTTP_TOKEN)."`
}

// operator serves the operator's page and the endpoints of one process. Nil serves
// nothing.
type operator struct {
	addr    string
	token   string
	log     *slog.Logger
	metrics *metrics
}

// operator checks the flags. It is nil when no page was asked for.
func (a *app) operator(f httpFlags, log *slog.Logger) (*operator, error) {
	token := f.HTTPToken
	if token == "" {
		token = a.getenv(envToken)
	}
	if f.HTTP == "" {
		if f.HTTPToken != "" {
			return nil, usagef("--http-token needs --http: without an address nothing is served")
		}
		return nil, nil
	}
	addr, err := listenAddress(f.HTTP)
	if err != nil {
		return nil, err
	}
	if token != "" && len(token) < shortestToken {
		return nil, usagef("the token of --http-token or %s is shorter than %d characters: make one with openssl rand -hex 16", envToken, shortestToken)
	}
	m, err := newMetrics()
	if err != nil {
		return nil, err
	}
	return &operator{addr: addr, token: token, log: log, metrics: m}, nil
}

// listenAddress makes an address without a host one of this machine only.
func listenAddress(given string) (string, error) {
	if !strings.Contains(given, ":") {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil {
		return "", usagef("--http is %q; it should be like 127.0.0.1:9090, or :9090 for this machine only", given)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// The times and sizes that a client gets. No client can hold up anything but its own
// connection: an answer is rendered before its first byte is sent.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 300 * time.Millisecond // for answers under way when the process stops
	maxHeader     = 16 << 10
	maxBody       = 8 << 10
)

// run serves while work runs and returns when both have ended. When the page cannot be
// served, work does not begin, or its context ends.
func (o *operator) run(ctx context.Context, w *working, work func(context.Context) error) error {
	if o == nil {
		return work(ctx)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return cannotListen(o.addr, err)
	}
	bound := listener.Addr().String()
	p, err := newPage(w, o, loopback(bound))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           p.handler(),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(o.log.Handler(), slog.LevelWarn),
	}
	o.log.Info("serving", "url", "http://"+bound+"/", "token", o.token != "", "actions", p.mayAct())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		// Beside the worker's own stop, so that both fit into two seconds.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err := server.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		closed <- err
	})
	served := make(chan error, 1)
	go func() {
		err := server.Serve(listener)
		stop()
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		served <- err
	}()
	err = work(ctx)
	stop()
	return errors.Join(err, <-served, <-closed)
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
