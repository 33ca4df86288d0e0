package pool_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/pool"
)

// TestHosts: what the driver makes of a list, and what it says.
func TestHosts(t *testing.T) {
	for addr, want := range map[string][]string{
		"a:3306,b:3307,c:3308":    {"a:3306", "b:3307", "c:3308"},
		"a,b":                     {"a:3306", "b:3306"},
		"a,b:3307":                {"a:3306", "b:3307"},
		"a:3307, b":               {"a:3307", "b:3306"},
		"[::1]:3307,[::2]":        {"[::1]:3307", "[::2]:3306"},
		"[::1],b":                 {"[::1]:3306", "b:3306"},
		"a:3307,[fe80::1%eth0]:1": {"a:3307", "[fe80::1%eth0]:1"},
		"a":                       {"a:3306"},
		"[::1]":                   nil, // as the driver has it
	} {
		parsed, err := mysql.ParseDSN("u:p@tcp(" + addr + ")/app?tls=true")
		if err != nil {
			t.Fatal(err)
		}
		made := mysql.NewConfig()
		made.Addr = addr
		if len(want) > 1 {
			if got := hosts.Addresses(made); !slices.Equal(got, want) {
				t.Errorf("%s made in Go: %q", addr, got)
			}
		} else {
			want = []string{parsed.Addr}
		}
		if got := hosts.Addresses(parsed); !slices.Equal(got, want) {
			t.Errorf("%s: %q, of %q", addr, got, parsed.Addr)
		}
	}
	socket := mysql.NewConfig()
	socket.Net, socket.Addr = "unix", "/run/a,b"
	if got := hosts.Addresses(socket); len(got) != 1 {
		t.Error(got)
	}
}

// TestSeveralHosts: a session is on the first host that takes writes, and a transaction that finds out that
// its host does not, or is not there any more, is run again on another.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	ms := machines(t, 2)
	a, b := ms[0], ms[1]
	db := floortest.Opened(t, hostsDSN(a, b))
	db.SetMaxIdleConns(0) // every use is a new session
	if got := at(t, db); got != a.addr {
		t.Errorf("at %s, want the first, %s", got, a.addr)
	}
	if got := at(t, floortest.Opened(t, hostsDSN(b, a))); got != b.addr {
		t.Errorf("at %s, want the first, %s", got, b.addr)
	}
	t.Run("read only", func(t *testing.T) { readOnlyHosts(t, db, a, b) })
	t.Run("stopped", func(t *testing.T) { stoppedHost(t, a, b) })
	t.Run("closed", func(t *testing.T) { closedHosts(t, db, a, b) })
}

func readOnlyHosts(t *testing.T, db *sql.DB, a, b *machine) {
	dbtest.Exec(t, a.admin, "SET GLOBAL read_only = 1")
	if got := at(t, db); got != b.addr {
		t.Errorf("at %s, want %s", got, b.addr)
	}
	dbtest.Exec(t, a.admin, "SET GLOBAL read_only = 0")
	if got := at(t, db); got != b.addr {
		t.Errorf("it was not left out: %s", got)
	}
	soon(t, db, a.addr)

	kept := floortest.Opened(t, hostsDSN(a, b))
	kept.SetMaxIdleConns(50)
	idle(t, kept, 30) // more than a transaction has attempts
	dbtest.Exec(t, a.admin, "SET GLOBAL read_only = 1")
	if err := floortest.Transfer(t.Context(), kept); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, a.admin, "0,0")
	floortest.WantBalances(t, b.admin, "1,1")
	dbtest.Exec(t, b.admin, "SET GLOBAL read_only = 1")
	wantNoHost(t, db.PingContext(t.Context()), a.addr+": ", b.addr+": ", "read_only is ON")
	dbtest.Exec(t, b.admin, "SET GLOBAL read_only = 0")
	if got := at(t, db); got != b.addr { // though its second is not over
		t.Errorf("at %s, want %s", got, b.addr)
	}
	dbtest.Exec(t, a.admin, "SET GLOBAL read_only = 0")
	soon(t, db, a.addr)

	kept.SetMaxIdleConns(0)
	soon(t, kept, a.addr)
	reader, err := kept.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), floortest.Add, 1); mysqlerr.Number(err) != 1792 {
		t.Errorf("a write in a transaction that reads: %v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got := at(t, kept); got != a.addr {
		t.Errorf("at %s: the host was left out for its user's own fault", got)
	}
}

// stoppedHost: a host that does not answer is left after the timeout, with all sessions to it.
func stoppedHost(t *testing.T, a, b *machine) {
	db := floortest.Opened(t, hostsDSN(a, b)+"?timeout=3s&readTimeout=3s")
	db.SetMaxIdleConns(10)
	idle(t, db, 5)
	if got := at(t, db); got != a.addr {
		t.Fatalf("at %s", got)
	}
	resume := a.stop(t)
	if err := floortest.Transfer(t.Context(), db); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, b.admin, "2,2")

	fresh := floortest.Opened(t, hostsDSN(a, b)+"?timeout=3s")
	fresh.SetMaxIdleConns(0)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := fresh.PingContext(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	began := time.Now()
	if got := at(t, fresh); got != b.addr || time.Since(began) < time.Second {
		t.Errorf("at %s, want %s, after %s: a context that ends soon says nothing about the host", got, b.addr, time.Since(began))
	}
	resume()
	soon(t, fresh, a.addr)
	floortest.WantBalances(t, a.admin, "0,0")
}

func closedHosts(t *testing.T, db *sql.DB, a, b *machine) {
	soon(t, db, a.addr)
	if err := a.server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := floortest.Transfer(t.Context(), db); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, b.admin, "3,3")
	if err := b.server.Close(); err != nil {
		t.Fatal(err)
	}
	wantNoHost(t, db.PingContext(t.Context()), a.addr+": ", b.addr+": ", "refused")
}

func wantNoHost(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, pool.ErrNoHost) || strings.Count(err.Error(), "; ") != 1 || !onerow.Retryable(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}
}
