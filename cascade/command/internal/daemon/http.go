package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/page"
)

// HTTPFlags are run's flags for its page and its endpoints.
type HTTPFlags struct {
	HTTP      string   `name:"http" placeholder:"ADDR" help:"Serve the operator's page, /metrics, /healthz and /readyz on this address; :9090 means 127.0.0.1:9090."`
	HTTPToken []string `name:"http-token" sep:"none" placeholder:"TOKEN" help:"Ask for this token on the page and on /metrics; 16 characters or more. NAME:TOKEN says whose it is, for the report; may be repeated. Better in the environment ($$ONEROW_HTTP_TOKEN, several with spaces between)."`
}

// Operator checks the flags. It is nil when no page was asked for.
func Operator(a *shell.App, f HTTPFlags, log *slog.Logger) (*server, error) {
	given := f.HTTPToken
	if len(given) == 0 {
		given = strings.Fields(a.Getenv(output.EnvToken))
	}
	if f.HTTP == "" {
		if len(f.HTTPToken) > 0 {
			return nil, usage.Errorf("--http-token needs --http: without an address nothing is served")
		}
		return nil, nil
	}
	addr, err := listenAddress(f.HTTP)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for _, text := range given {
		name, secret := namedToken(text)
		if tokens[secret] = name; len(secret) < shell.ShortestToken {
			return nil, usage.Errorf("a token of --http-token or %s is shorter than %d characters: make one with openssl rand -hex 16", output.EnvToken, shell.ShortestToken)
		}
	}
	m, err := metrics.New()
	return &server{addr: addr, tokens: tokens, log: log, Metrics: m}, err
}

// tokenName is what a name may be; a token with another colon in it has none.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,64}:`)

func namedToken(text string) (name, secret string) {
	prefix := tokenName.FindString(text)
	return strings.TrimSuffix(prefix, ":"), text[len(prefix):]
}

// listenAddress makes an address without a host one of this machine only.
func listenAddress(given string) (string, error) {
	if !strings.Contains(given, ":") {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil {
		return "", usage.Errorf("--http is %q; it should be like 127.0.0.1:9090, or :9090 for this machine only", given)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

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
