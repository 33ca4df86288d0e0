package shell

import (
	"errors"
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
	dsnForm = "user:password@tcp(host:3306)/database" //nolint:gosec // the form, for messages
	// dialTimeout is the driver's, when the DSN gives none.
	dialTimeout = 5 * time.Second
)

var (
	urlScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	// The driver sends what it does not know as SET name = value.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	charsetParam = regexp.MustCompile(`[?&]charset=([^&]*)`)
)

// ParseDSN reads a DSN in the driver's form. Its errors never contain any part of it that could belong to the
// password: the driver's messages are not passed on, for they quote what they stumble over, and a password
// with a '/' or a '(' makes the driver stumble within it.
func ParseDSN(dsn string) (*mysql.Config, error) {
	switch {
	case strings.TrimSpace(dsn) == "":
		return nil, usage.Errorf("no database was given: set ONEROW_DSN or --dsn to %s", dsnForm)
	case urlScheme.MatchString(dsn) && !strings.Contains(dsn, ")/"): // a password may begin with "//", too
		return nil, usage.Errorf("the DSN is a URL; it should be %s, where nothing is percent-encoded before the '?'", dsnForm)
	}
	cfg, err := driverParse(dsn)
	if err != nil {
		return nil, usage.Errorf("the DSN cannot be understood%s; it should be %s", hint(dsn), dsnForm)
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

// hint says what is most likely wrong with a DSN.
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

// finish refuses what can only be a mistake and adds the recommended settings.
func finish(cfg *mysql.Config) (*mysql.Config, error) {
	if !slices.Contains([]string{"tcp", "tcp4", "tcp6", "unix"}, cfg.Net) {
		return nil, usage.Errorf("the DSN's network is neither tcp nor unix; it should be %s", dsnForm)
	}
	if cfg.DBName == "" {
		return nil, usage.Errorf("the DSN names no database; it should be %s", dsnForm)
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

// Address says where the database is, for messages. It is no part of the password: [ParseDSN] refuses what
// the driver takes for a network that it does not know.
func Address(cfg *mysql.Config) string {
	return output.Printable(strings.Join(hosts.Addresses(cfg), ","))
}
