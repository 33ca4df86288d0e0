package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
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
	HTTP          string   `name:"http" placeholder:"ADDR" help:"Serve the operator's page, /metrics, /healthz and /readyz on this address; :9090 means 127.0.0.1:9090."`
	HTTPToken     []string `name:"http-token" sep:"none" placeholder:"TOKEN" help:"Ask for this token on the page and on /metrics; 16 characters or more. NAME:TOKEN says whose it is, for the report, and is user and password, too; may be repeated. Better in the environment ($$ONEROW_HTTP_TOKEN, several with spaces between)."`
	HTTPReadToken []string `name:"http-read-token" sep:"none" placeholder:"TOKEN" help:"The same for those who may look and press no button ($$ONEROW_HTTP_READ_TOKEN)."`
	HTTPProxy     []string `name:"http-proxy" placeholder:"CIDR" help:"Believe a proxy at this address who has signed in there, as in 10.0.0.7 or 10.0.0.0/24; may be repeated."`
	HTTPProxyUser string   `name:"http-proxy-user" placeholder:"HEADER" help:"The header in which the proxy says it (X-Forwarded-User)."`
	HTTPPrefix    string   `name:"http-prefix" placeholder:"PATH" help:"Serve the page below this path, as in /onerow. The endpoints are where they are, and below it."`
}

// tokens are the secrets of one flag, or of its variable, with the names.
func tokens(flags []string, environment string) (map[string]string, error) {
	if len(flags) == 0 {
		flags = strings.Fields(environment)
	}
	named := map[string]string{}
	for _, text := range flags {
		name, secret := namedToken(text)
		if named[secret] = name; len(secret) < shell.ShortestToken {
			return nil, usage.Errorf("a token of --http-token, --http-read-token, %s or %s is shorter than %d characters: make one with openssl rand -hex 16",
				output.EnvToken, output.EnvReadToken, shell.ShortestToken)
		}
	}
	return named, nil
}

// proxies are the addresses of --http-proxy.
func proxies(given []string) (list []netip.Prefix, err error) {
	for _, text := range given {
		if addr, wrong := netip.ParseAddr(text); wrong == nil {
			text = netip.PrefixFrom(addr.WithZone(""), addr.BitLen()).String()
		}
		prefix, wrong := netip.ParsePrefix(text)
		if wrong != nil {
			return nil, usage.Errorf("--http-proxy is %q; it should be an address like 10.0.0.7, or a range like 10.0.0.0/24", output.Printable(text))
		}
		list = append(list, prefix)
	}
	return list, nil
}

// unserved says which flag has no sense, where nothing is served.
func (f HTTPFlags) unserved() error {
	for flag, given := range map[string]bool{"--http-token": len(f.HTTPToken) > 0, "--http-read-token": len(f.HTTPReadToken) > 0, "--http-proxy": len(f.HTTPProxy) > 0,
		"--http-proxy-user": f.HTTPProxyUser != "", "--http-prefix": f.HTTPPrefix != ""} {
		if given {
			return usage.Errorf("%s needs --http: without an address nothing is served", flag)
		}
	}
	return nil
}

// Operator checks the flags. It is nil when no page was asked for.
func Operator(a *shell.App, f HTTPFlags, log *slog.Logger) (*server, error) {
	if f.HTTP == "" {
		return nil, f.unserved()
	}
	addr, err := listenAddress(f.HTTP)
	if err != nil {
		return nil, err
	}
	o := page.Options{ProxyUser: f.HTTPProxyUser, Prefix: strings.TrimSuffix(f.HTTPPrefix, "/"), Log: log}
	if o.Tokens, err = tokens(f.HTTPToken, a.Getenv(output.EnvToken)); err != nil {
		return nil, err
	}
	if o.ReadTokens, err = tokens(f.HTTPReadToken, a.Getenv(output.EnvReadToken)); err != nil {
		return nil, err
	}
	if o.Proxies, err = proxies(f.HTTPProxy); err != nil {
		return nil, err
	}
	if o.Prefix != "" && (!strings.HasPrefix(o.Prefix, "/") || path.Clean(o.Prefix) != o.Prefix || strings.ContainsAny(o.Prefix, "{}\\ ")) {
		return nil, usage.Errorf("--http-prefix is %q; it should be a path like /onerow", output.Printable(f.HTTPPrefix))
	}
	m, err := metrics.New()
	return &server{addr: addr, options: o, log: log, Metrics: m}, err
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
	options page.Options // who may look and act, and the prefix
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
	p := o.options
	p.DB, p.Plan, p.Name, p.Database, p.Local, p.Metrics = w.DB, w.Plan, w.Name, w.Database, local, o.Metrics.Handler(w.DB, o.log)
	return p
}

// below serves a page below the prefix, and the endpoints at both places: probes know nothing of a prefix.
func (o *server) below(p http.Handler) http.Handler {
	prefix := o.options.Prefix
	if prefix == "" {
		return p
	}
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, p))
	mux.Handle("/{$}", http.RedirectHandler(prefix+"/", http.StatusSeeOther))
	for _, endpoint := range []string{"/healthz", "/readyz", "/metrics"} {
		mux.Handle(endpoint, p)
	}
	return mux
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
	if err != nil {
		err = usage.Mark(err)
	}
	if err = errors.Join(err, o.Metrics.Watch(w.DB)); err != nil {
		return errors.Join(err, listener.Close())
	}
	web := &http.Server{
		Handler:           o.below(p),
		ReadHeaderTimeout: HeaderTimeout, ReadTimeout: ReadTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: MaxHeader,
		ErrorLog:       slog.NewLogLogger(o.log.Handler(), slog.LevelWarn),
	}
	locked := len(o.options.Tokens)+len(o.options.ReadTokens)+len(o.options.Proxies) > 0
	o.log.Info("serving", "url", "http://"+bound+o.options.Prefix+"/", "token", locked, "actions", len(o.options.Tokens)+len(o.options.Proxies) > 0 || !locked && local)
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
