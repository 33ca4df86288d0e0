package daemon

import (
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
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
