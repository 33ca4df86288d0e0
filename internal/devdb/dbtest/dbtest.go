package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
)

// The one server of this test binary. Go gives TestMain and the tests no other way to share a value.
var (
	serverOnce  sync.Once
	serverFound *devdb.Server
	serverStop  func() error
	serverErr   error
	schemas     atomic.Int64
)

// startPatience covers a first initialisation.
const startPatience = 2 * time.Minute

// Main runs the tests of a package, closes the server if one was started, and exits. For TestMain. Sessions
// on the server and goroutines that stay behind tests that have passed fail the package.
func Main(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // errors are what the tests make; a test that reads a log has its own
	before := goroutines()
	code := m.Run()
	var left error
	if code == 0 && serverFound != nil {
		left = straySessions(context.Background(), serverFound, leakPatience)
	}
	if err := Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest: closing the server:", err)
		code = max(code, 1)
	}
	if code == 0 {
		left = errors.Join(left, strayGoroutines(before, leakPatience))
	}
	if left != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", left)
		code = 1
	}
	os.Exit(code)
}

// Stop closes the server of this test binary, if one was started.
func Stop() error {
	if serverStop == nil {
		return nil
	}
	return serverStop()
}

// Server returns the server of this test binary, starting it if this is the first call. It must not be
// closed. Without a server the test fails. The package needs a TestMain that calls [Main], which stops it.
func Server(t testing.TB) *devdb.Server {
	t.Helper()
	serverOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startPatience)
		defer cancel()
		serverFound, serverStop, serverErr = start(ctx)
		if serverErr == nil {
			fmt.Fprintf(os.Stderr, "dbtest: %s %s: %s\n", serverFound.Engine(), serverFound.Version(), serverFound.Source())
		}
	})
	if serverErr != nil {
		t.Fatalf("dbtest: no test without a real server: %v", serverErr)
	}
	return serverFound
}

func start(ctx context.Context) (*devdb.Server, func() error, error) {
	if image := os.Getenv(devdb.EnvImage); image != "" && os.Getenv(devdb.EnvDSN) == "" {
		return nil, nil, fmt.Errorf("%s=%s is for make test-docker, which starts that container for all packages at once; unset it to use a server of this machine",
			devdb.EnvImage, image)
	}
	s, err := devdb.Start(ctx, devdb.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// Option changes how the connections of [Open] and [DSN] are set up.
type Option func(*settings)

type settings struct {
	isolation sql.IsolationLevel
	params    []string
	stale     bool
}

// Isolation sets the isolation level of every session, under the name of the variable that the engine knows.
// The default is READ COMMITTED.
func Isolation(level sql.IsolationLevel) Option {
	return func(s *settings) { s.isolation = level }
}

// Param adds a parameter of go-sql-driver's DSN, as in Param("clientFoundRows", "true"). It wins over the
// recommended settings and over earlier options.
func Param(key, value string) Option {
	return func(s *settings) { s.params = append(s.params, key+"="+value) }
}

// ForeignZones are time zones that a server's sessions may have, far from UTC on both of its sides.
var ForeignZones = []string{"+05:30", "-11:00"}

// Zone sets the time zone of every session; the default is +00:00. What takes NOW() for UTC is found on one
// side of it at least.
func Zone(zone string) Option { return Param("time_zone", url.QueryEscape("'"+zone+"'")) }

// SnapshotIsolation says whether the server knows innodb_snapshot_isolation (MariaDB, ON by default from 11.6
// on): a write on a row that was changed after the transaction's snapshot is refused there, and the
// transaction rolled back, at REPEATABLE READ.
func SnapshotIsolation(t testing.TB) bool {
	t.Helper()
	has, err := hasSnapshotIsolation(Server(t))
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return has
}

func hasSnapshotIsolation(s *devdb.Server) (has bool, err error) {
	db, err := sql.Open("mysql", s.DSN(""))
	if err != nil {
		return false, err
	}
	var name, value string
	err = db.QueryRowContext(context.Background(), "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return false, db.Close()
	}
	return true, errors.Join(err, db.Close())
}

// StaleWrites lets a transaction at REPEATABLE READ write what was changed after its snapshot, as all servers
// do by default but those of [SnapshotIsolation]: for a naive twin, whose fault such a server refuses, and
// for what happens where it does not.
func StaleWrites() Option { return func(s *settings) { s.stale = true } }

// SnapshotConflicts is the opposite of StaleWrites, on servers of [SnapshotIsolation].
func SnapshotConflicts(t testing.TB) Option {
	if SnapshotIsolation(t) {
		return Param("innodb_snapshot_isolation", "ON")
	}
	return func(*settings) {}
}

// Open makes a fresh schema for this test and returns a pool on it. When the test ends the pool is closed and
// the schema dropped; a transaction that the test left open makes that fail, and the test with it.
func Open(t testing.TB, opts ...Option) *sql.DB {
	t.Helper()
	return OpenDSN(t, DSN(t, opts...))
}

// OpenDSN returns one more pool on a schema that [DSN] made, closed when the test ends.
func OpenDSN(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	db.SetMaxIdleConns(64) // database/sql keeps two by default, and parallel tests would reconnect all the time
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("dbtest: close the pool: %v", err)
		}
	})
	return db
}

// DSN makes a fresh schema for this test, dropped when the test ends, and returns its data source name.
func DSN(t testing.TB, opts ...Option) string {
	t.Helper()
	server := Server(t)
	name := fmt.Sprintf("onerow_t_%d_%d", os.Getpid(), schemas.Add(1))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.CreateDatabase(ctx, name); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { drop(t, server, name) })
	if more := os.Getenv(devdb.EnvSchema); more != "" {
		alter(t, server, name, more)
	}
	dsn, err := dsnFor(server, name, opts)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return dsn
}

// alter changes what tables of the schema get that say nothing of their own.
func alter(t testing.TB, server *devdb.Server, name, more string) {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN(name))
	if err == nil {
		_, err = db.ExecContext(t.Context(), "ALTER DATABASE "+name+" "+more) //nolint:gosec // of the one who runs the tests
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
}

func drop(t testing.TB, server *devdb.Server, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.DropDatabase(ctx, name); err != nil {
		t.Errorf("dbtest: %v (is a transaction of this test still open?)", err)
	}
}

func dsnFor(server *devdb.Server, name string, opts []Option) (string, error) {
	var s settings
	for _, o := range opts {
		o(&s)
	}
	cfg := server.Config(name)
	if s.isolation != sql.LevelDefault {
		level := strings.ToUpper(strings.ReplaceAll(s.isolation.String(), " ", "-"))
		cfg.Params[server.IsolationVariable()] = "'" + level + "'"
	}
	if s.stale {
		has, err := hasSnapshotIsolation(server)
		if err != nil {
			return "", err
		}
		if has {
			cfg.Params["innodb_snapshot_isolation"] = "OFF"
		}
	}
	dsn := cfg.FormatDSN()
	if more := os.Getenv(devdb.EnvParams); more != "" {
		dsn += "&" + more
	}
	for _, p := range s.params {
		dsn += "&" + p // there is always a parameter before: the isolation level
	}
	if _, err := mysql.ParseDSN(dsn); err != nil {
		return "", fmt.Errorf("options %q: %w", s.params, err)
	}
	return dsn, nil
}
