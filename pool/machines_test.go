package pool_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// machine is a private server, and its administrator.
type machine struct {
	server *devdb.Server
	admin  *sql.DB
	addr   string
}

// machines are servers with the same schema and a user who is nobody special there.
func machines(t *testing.T, n int) []*machine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	all, errs := make([]*machine, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			var s *devdb.Server
			if s, errs[i] = devdb.Start(ctx, devdb.Options{Private: true}); errs[i] == nil {
				all[i] = &machine{server: s, addr: s.Config("").Addr}
				errs[i] = s.CreateDatabase(ctx, "app")
			}
		})
	}
	wg.Wait()
	for _, m := range all {
		if m != nil {
			t.Cleanup(func() {
				if err := m.server.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		m.admin = dbtest.OpenDSN(t, m.server.DSN("app"))
		dbtest.Exec(t, m.admin, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
		dbtest.Exec(t, m.admin, "INSERT INTO account VALUES (1, 0), (2, 0)")
		dbtest.Exec(t, m.admin, "CREATE USER app@'%' IDENTIFIED BY 'secret'")
		dbtest.Exec(t, m.admin, "GRANT ALL ON app.* TO app@'%'")
	}
	return all
}

// stop stops a server with SIGSTOP. What it returns continues it.
func (m *machine) stop(t *testing.T) (resume func()) {
	t.Helper()
	var file string
	if err := m.admin.QueryRowContext(t.Context(), "SELECT @@pid_file").Scan(&file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file) //nolint:gosec // of the test's own server
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 2 {
		t.Fatal(pid, err)
	}
	if err := devdb.Suspend(pid); err != nil {
		t.Fatal(err)
	}
	resume = sync.OnceFunc(func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(resume) // before the server is closed
	return resume
}

// at is where a new session of the pool is.
func at(t *testing.T, db *sql.DB) string {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Error(err)
		return ""
	}
	defer conn.Close() //nolint:errcheck // it ends with the pool
	var port string
	if err := conn.QueryRowContext(t.Context(), "SELECT @@port").Scan(&port); err != nil {
		t.Error(err)
	}
	return "127.0.0.1:" + port
}

// soon waits until it is want: a host is left out for a second.
func soon(t *testing.T, db *sql.DB, want string) {
	t.Helper()
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		got := at(t, db)
		return got == want, got
	})
}

func hostsDSN(list ...*machine) string {
	addrs := make([]string, len(list))
	for i, m := range list {
		addrs[i] = m.addr
	}
	return "app:secret@tcp(" + strings.Join(addrs, ",") + ")/app"
}

// idle leaves n sessions in the pool.
func idle(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	conns := make([]*sql.Conn, n)
	for i := range conns {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
	}
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
