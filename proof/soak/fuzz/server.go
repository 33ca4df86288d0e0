package fuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
)

// ChooseEngine sets the environment so that devdb starts that engine privately.
func ChooseEngine(ctx context.Context, engine string) error {
	if err := os.Unsetenv(devdb.EnvDSN); err != nil { // a server that is killed must be our own
		return fmt.Errorf("soak: %w", err)
	}
	if engine != "mysql" || os.Getenv(devdb.EnvMysqld) != "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "scripts/get-mysql")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("soak: scripts/get-mysql; or set %s to a mysqld: %w", devdb.EnvMysqld, err)
	}
	if err := os.Setenv(devdb.EnvMysqld, strings.TrimSpace(string(out))); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return nil
}

// Start starts a throw-away server of that engine, and says which it is.
func Start(ctx context.Context, engine string, args ...string) (*devdb.Server, error) {
	return StartIn(ctx, engine, nil, args...)
}

// StartIn is Start with environment variables for the server alone.
func StartIn(ctx context.Context, engine string, env []string, args ...string) (*devdb.Server, error) {
	if err := ChooseEngine(ctx, engine); err != nil {
		return nil, err
	}
	// The driver would report every broken connection, and breaking them is what this is about.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	server, err := devdb.Start(ctx, devdb.Options{Private: true, Env: env, Args: args})
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if engine != "" && !strings.EqualFold(server.Engine(), engine) {
		return nil, errors.Join(fmt.Errorf("soak: the server that was found is %s, not %s; set %s to its program", server.Engine(), engine, devdb.EnvMysqld), server.Close())
	}
	fmt.Printf("soak: %s %s, private\n", server.Engine(), server.Version())
	return server, nil
}

// Databases makes databases that are not there.
func Databases(ctx context.Context, server *devdb.Server, names ...string) error {
	for _, name := range names {
		if err := server.CreateDatabase(ctx, name); err != nil {
			return err //nolint:wrapcheck // it says all
		}
	}
	return nil
}

// DSN is the data source name of a database at an address, which may be a proxy's.
func DSN(server *devdb.Server, addr, database, params string) string {
	user := server.Config(database)
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?%s", user.User, user.Passwd, addr, database, params)
}

// Admin opens a pool of the plain driver, straight to the server, that nothing of the toolkit guards.
func Admin(server *devdb.Server, database string) (*sql.DB, error) {
	connector, err := mysql.NewConnector(server.Config(database))
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// Pause waits, and says whether ctx goes on.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Within asks until the answer is yes, for as long as patience.
func Within(ctx context.Context, patience time.Duration, done func() (bool, error)) (bool, error) {
	for begin := time.Now(); ; {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		if time.Since(begin) > patience || !Pause(ctx, 50*time.Millisecond) {
			return false, nil
		}
	}
}

// Drained waits until nothing is open, as long as fewer are with time: patience is for how long none of them
// may end. It returns how many are left. An error of open ends it.
func Drained(ctx context.Context, patience time.Duration, open func() (int, error)) (left int, err error) {
	for least, since := math.MaxInt, time.Now(); ; {
		if left, err = open(); err != nil || left == 0 {
			return left, err
		}
		if left < least {
			least, since = left, time.Now()
		}
		if time.Since(since) > patience || !Pause(ctx, 50*time.Millisecond) {
			return left, nil
		}
	}
}

// patience is how long a client may take to end its call; none of its contexts lasts so long.
const patience = 90 * time.Second

// brokenHang is the kind of what is found by Ended.
const brokenHang = "a client hangs"

// Ended waits until the clients have ended; an error says that nothing can be judged, for one hangs.
func Ended(clients *sync.WaitGroup, found *Findings) error {
	ended := make(chan struct{})
	go func() { clients.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-time.After(patience):
	}
	stacks := make([]byte, 1<<20)
	found.Add(brokenHang, "no end after %v:\n%s", patience, stacks[:runtime.Stack(stacks, true)])
	return errors.New("clients hang, so nothing else can be judged")
}

// Close closes a pool. It has no error to tell: saying goodbye to the server fails on a session that was
// killed or cut, and what stays open in the server is for [Left] to find.
func Close(db *sql.DB) {
	_ = db.Close() //nolint:errcheck // as said
}
