package page

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// EnvToken stands in for --http-token; several are set apart by spaces.
const EnvToken = "ONEROW_HTTP_TOKEN" //nolint:gosec // a name, no credential

// Server serves the operator's page and the endpoints of one process. Nil serves
// nothing.
type Server struct {
	addr    string
	tokens  []Token
	log     *slog.Logger
	Metrics *Metrics
}

// Token lets in who has the secret. Its name is who acts then; "" for nobody in particular.
type Token struct{ Name, Secret string }

// NewServer makes the server; without tokens none is asked for.
func NewServer(addr string, tokens []Token, log *slog.Logger) (*Server, error) {
	m, err := NewMetrics()
	if err != nil {
		return nil, err
	}
	return &Server{addr: addr, tokens: tokens, log: log, Metrics: m}, nil
}

// Worker is whose page it is.
type Worker struct {
	DB             *sql.DB
	Plan           schema.Plan
	Name, Database string
	// Unready says why it cannot work, in a few words that say nothing of the data; nothing when it can.
	Unready func(ctx context.Context) []string
	// Key reads a key that a person has typed; Enqueue queues that row's deletion and says what became of it.
	Key     func(ctx context.Context, resource, typed string) (string, error)
	Enqueue func(ctx context.Context, resource, typed string, d queue.Deletion) (string, error)
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
	MaxBody       = 8 << 10
)

// Run serves while work runs and returns when both have ended. When the page cannot be
// served, work does not begin, or its context ends.
func (o *Server) Run(ctx context.Context, w Worker, work func(context.Context) error) error {
	if o == nil {
		return work(ctx)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return cannotListen(o.addr, err)
	}
	bound := listener.Addr().String()
	p, err := New(w, o, loopback(bound))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	web := &http.Server{
		Handler:           p.Handler(),
		ReadHeaderTimeout: HeaderTimeout, ReadTimeout: ReadTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: MaxHeader,
		ErrorLog:       slog.NewLogLogger(o.log.Handler(), slog.LevelWarn),
	}
	o.log.Info("serving", "url", "http://"+bound+"/", "token", len(o.tokens) > 0, "actions", p.mayAct())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		// Beside the worker's own stop, so that both fit into two seconds.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err := web.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = web.Close()
		}
		closed <- err
	})
	served := make(chan error, 1)
	go func() {
		err := web.Serve(listener)
		stop()
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		served <- err
	}()
	ended := p.Beside(ctx)
	err = work(ctx)
	stop()
	ended()
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
