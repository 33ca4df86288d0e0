package page

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/schema"
)

// Options are what a [Page] shows, where, and to whom. DB and Plan are required.
type Options struct {
	DB   *sql.DB
	Plan schema.Plan
	// Name is whose page this is; a worker of that name is shown as this one. It is the host's by default.
	Name string
	// Database says where the rows are, to the people who look.
	Database string
	// Prefix is what [http.StripPrefix] takes off before the page gets a request, as in "/onerow"; "":
	// nothing.
	Prefix string
	// Tokens let people and programs in: by its secret, who acts with a token, or "" for nobody in
	// particular. Without any, everybody may look, and nobody may press a button unless Local says so.
	Tokens map[string]string
	// ReadTokens are as Tokens, of people and programs who may look and press nothing.
	ReadTokens map[string]string
	// Proxies are addresses of proxies that have asked people who they are. The page believes them, and
	// nobody else, the header ProxyUser; it looks at the address of the connection itself. Whoever a proxy
	// names may press buttons, unless a read token comes along.
	Proxies []netip.Prefix
	// ProxyUser is the header, "X-Forwarded-User" by default. A proxy has to take away a client's own.
	ProxyUser string
	// Local says that nobody but this machine can reach the page.
	Local bool
	// Log is slog.Default by default.
	Log *slog.Logger
	// Metrics answers GET /metrics, with a token where there are tokens. By default nothing is there.
	Metrics http.Handler
	// CountBudget is how long a count of what is left of a job may take that nobody has asked for: 2 minutes
	// by default.
	CountBudget time.Duration
}

func (o *Options) check() error {
	switch {
	case o.DB == nil:
		return errors.New("page: DB is nil")
	case o.Prefix != "" && (!strings.HasPrefix(o.Prefix, "/") || strings.HasSuffix(o.Prefix, "/") || localPath(o.Prefix) != o.Prefix):
		return fmt.Errorf("page: Prefix is %q; it should be like /onerow", o.Prefix)
	}
	if err := errors.Join(o.checkTokens(), o.checkProxies()); err != nil {
		return err
	}
	if err := o.Plan.Check(); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	host, _ := os.Hostname() //nolint:errcheck // the next line says so
	o.Name, o.Log, o.CountBudget = cmp.Or(o.Name, host, "unknown host"), cmp.Or(o.Log, slog.Default()), cmp.Or(o.CountBudget, thoroughTime)
	return nil
}

func (o *Options) checkTokens() error {
	for _, tokens := range []map[string]string{o.Tokens, o.ReadTokens} {
		if name, empty := tokens[""]; empty {
			return fmt.Errorf("page: the token of %q has no secret", name)
		}
	}
	for secret, name := range o.ReadTokens {
		if other, both := o.Tokens[secret]; both {
			return fmt.Errorf("page: %q and %q have the same token, the one to look and the other to act", name, other)
		}
	}
	return nil
}

// headerName is what a proxy may call its header.
var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

func (o *Options) checkProxies() error {
	if o.ProxyUser != "" && len(o.Proxies) == 0 {
		return fmt.Errorf("page: ProxyUser is %q, but no address of a proxy is listed, so nobody would be believed", o.ProxyUser)
	}
	o.ProxyUser = cmp.Or(o.ProxyUser, "X-Forwarded-User")
	if name := http.CanonicalHeaderKey(o.ProxyUser); !headerName.MatchString(name) || slices.Contains([]string{"Authorization", "Cookie", "Host", "Origin"}, name) {
		return fmt.Errorf("page: ProxyUser is %q; it should be a header like X-Forwarded-User", o.ProxyUser)
	}
	for _, prefix := range o.Proxies {
		if !prefix.IsValid() {
			return errors.New("page: a prefix of Proxies is no address; it should be like 10.0.0.7/32")
		}
	}
	return nil
}

// callers are whose tokens these are.
func (o *Options) callers() map[string]caller {
	all := map[string]caller{}
	for secret, name := range o.ReadTokens {
		all[secret] = caller{name: name}
	}
	for secret, name := range o.Tokens {
		all[secret] = caller{name: name, act: true}
	}
	return all
}
