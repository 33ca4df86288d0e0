package pool_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/pool"
)

// TestKillThatFailsIsTold: where a session that its caller has left cannot be killed, for its user may not
// connect once more, the driver's logger is told what to look for; where it can be, nothing is.
func TestKillThatFailsIsTold(t *testing.T) {
	t.Parallel()
	dsn := floortest.Private(t)
	admin := dbtest.OpenDSN(t, dsn)
	for limit, told := range map[int]bool{1: true, 0: false} {
		user := fmt.Sprint("left", limit)
		dbtest.Exec(t, admin, "CREATE USER "+user+"@'%' IDENTIFIED BY 'secret' WITH MAX_USER_CONNECTIONS "+fmt.Sprint(limit))
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		var log lines
		cfg.User, cfg.Passwd, cfg.DBName, cfg.AllowNativePasswords, cfg.Logger = user, "secret", "", true, &log
		connector, err := pool.NewConnector(cfg)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		db.SetMaxOpenConns(1)
		var session uint64 // asked here: later the server may list the one beside it that is being refused
		if err := db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&session); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err = db.ExecContext(ctx, "DO SLEEP(5)")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil { // it waits for the answer
			t.Fatal(err)
		}
		switch text := log.String(); {
		case !told && text != "":
			t.Errorf("it was killed, and still there is told: %s", text)
		case told && (!strings.Contains(text, fmt.Sprintf("SHOW PROCESSLIST there, then KILL %d: ", session)) || strings.Contains(text, "secret")):
			t.Errorf("of the session %d it is told: %q", session, text)
		}
	}
}

// lines are what a driver's logger is told.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Print(v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, v...)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
