package shell

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/pool"
)

const (
	dsnForms = "mysql://user:password@host:3306/database or user:password@tcp(host:3306)/database" //nolint:gosec // the form, for messages
	// dialTimeout is the driver's, when the DSN gives none.
	dialTimeout = 5 * time.Second
)

var (
	urlScheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	// The driver sends what it does not know as SET name = value.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	charsetParam = regexp.MustCompile(`[?&]charset=([^&]*)`)
)

// ParseDSN reads a DSN in either form. Its errors never contain any part of it that
// could belong to the password: neither the driver's messages nor those of net/url
// are passed on, for both quote what they stumble over, and a password with a '/' or
// a '(' makes them stumble within it.
func ParseDSN(dsn string) (*mysql.Config, error) {
	if strings.TrimSpace(dsn) == "" {
		return nil, usage.Errorf("no database was given: set ONEROW_DSN or --dsn to %s", dsnForms)
	}
	// In the driver's form a password may begin with "//"; then an address in
	// parentheses follows.
	scheme := urlScheme.FindStringSubmatch(dsn)
	isURL := scheme != nil && !strings.Contains(dsn, ")/")
	if isURL {
		if !slices.Contains([]string{"mysql", "mariadb"}, strings.ToLower(scheme[1])) {
			return nil, usage.Errorf("the DSN is a URL of another kind than mysql:// or mariadb://; it should be %s", dsnForms)
		}
		rewritten, err := fromURL(dsn)
		if err != nil {
			return nil, usage.Mark(err)
		}
		return finish(rewritten)
	}
	cfg, err := driverParse(dsn)
	if err != nil {
		return nil, usage.Errorf("the DSN cannot be understood%s; it should be %s", hint(dsn), dsnForms)
	}
	return finish(cfg)
}

// driverParse is mysql.ParseDSN, which panics at the parameter "strict".
func driverParse(dsn string) (cfg *mysql.Config, err error) {
	defer func() {
		if recover() != nil {
			cfg, err = nil, errors.New("the driver panicked")
		}
	}()
	return mysql.ParseDSN(dsn)
}

// hint says what is most likely wrong with a DSN in the driver's form.
func hint(dsn string) string {
	switch {
	case !strings.Contains(dsn, "/"):
		return ": there is no '/' before the name of the database"
	case strings.Contains(dsn, "(") && !strings.Contains(dsn, ")/"):
		return ": the address in parentheses must be followed by '/', and a '/' in a parameter is written %2F"
	case !strings.Contains(dsn, "("):
		return ": the address needs its network and parentheses, as in tcp(host:3306)"
	}
	return ": the address or a parameter is wrong"
}

// fromURL turns a URL into the driver's configuration.
func fromURL(dsn string) (*mysql.Config, error) {
	const escape = `in a URL the characters / ? # @ : % and spaces of a user name or password are percent-encoded (/ is %2F, @ is %40)`
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the DSN is not a valid URL: " + escape)
	}
	// With an unescaped / ? or # in the password, what is parsed as the address is a
	// part of the password.
	_, rest, _ := strings.Cut(dsn, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.Contains(rest[i:], "@") || u.Fragment != "" {
		return nil, errors.New("the DSN has a '@' or '#' behind the address: " + escape)
	}
	database := strings.TrimPrefix(u.Path, "/")
	if strings.Contains(database, "/") {
		return nil, errors.New("the DSN has more than one '/' behind the address: " + escape)
	}
	// The driver does not look at '/' in parameters but at the last one of the DSN.
	cfg, err := driverParse("tcp(127.0.0.1:3306)/?" + strings.ReplaceAll(u.RawQuery, "/", "%2F"))
	if err != nil {
		return nil, errors.New("a parameter behind the '?' of the DSN has a value that does not fit")
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.DBName = database
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "3306"
	}
	cfg.Addr = net.JoinHostPort(host, port)
	if cfg.TLS != nil && !cfg.TLS.InsecureSkipVerify {
		cfg.TLS.ServerName = host
	}
	return cfg, nil
}

// finish refuses what can only be a mistake and adds the recommended settings.
func finish(cfg *mysql.Config) (*mysql.Config, error) {
	if !slices.Contains([]string{"tcp", "tcp4", "tcp6", "unix"}, cfg.Net) {
		return nil, usage.Errorf("the DSN's network is neither tcp nor unix; it should be %s", dsnForms)
	}
	if cfg.DBName == "" {
		return nil, usage.Errorf("the DSN names no database; it should be %s", dsnForms)
	}
	for name := range cfg.Params {
		if !variableName.MatchString(name) {
			return nil, usage.Errorf("the DSN has a parameter whose name is neither one of the driver's nor a system variable")
		}
		switch strings.ToLower(name) {
		case "password", "passwd", "pwd", "user", "username":
			return nil, usage.Errorf("the DSN has a parameter %q; user and password belong before the '@'", name)
		}
	}
	if cfg.Collation != "" && !variableName.MatchString(cfg.Collation) {
		return nil, usage.Errorf("the DSN's collation is no collation's name")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = dialTimeout
	}
	// It would not fit another character set.
	if said := charsetParam.FindStringSubmatch(cfg.FormatDSN()); cfg.Collation == "" && (said == nil || said[1] == "utf8mb4") {
		cfg.Collation = "utf8mb4_general_ci" // known to all versions of both engines
	}
	// One round trip per statement instead of two, where that is safe. If the DSN asks for it elsewhere,
	// pool.NewConnector refuses it.
	cfg.InterpolateParams = cfg.InterpolateParams || pool.CanInterpolate(cfg)
	// What the driver would write to stderr comes back as an error as well.
	cfg.Logger = &mysql.NopLogger{}
	return cfg, nil
}

// Address says where the database is, for messages. It is no part of the password:
// parseDSN refuses every DSN that could be read in two ways.
func Address(cfg *mysql.Config) string {
	return output.Printable(strings.Join(hosts.Addresses(cfg), ","))
}
