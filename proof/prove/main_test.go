package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// asProgram has the test binary be the program, for tests that end it.
const asProgram = "PROVE_IS_THE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr)) //nolint:gocritic // as main does
	}
	dbtest.Main(m)
}

// plainDSN is a server's, with nothing set.
func plainDSN(server *devdb.Server) string {
	cfg := server.Config("")
	return fmt.Sprintf("%s:%s@tcp(%s)/", cfg.User, cfg.Passwd, cfg.Addr)
}

// prove runs it, and returns what machines get.
func prove(t *testing.T, o options) (code int, rep report, progress string) {
	t.Helper()
	var out, said bytes.Buffer
	o.json, o.short, o.all = true, o.only != "crash-cascade", 15*time.Minute
	code, err := run(t.Context(), o, &out, &said)
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil || rep.Exit != code {
		t.Fatalf("exit code %d, %v: %s", code, err, out.String())
	}
	t.Log(said.String())
	return code, rep, said.String()
}

// of is a check's result.
func (r report) of(name string) result {
	for _, x := range r.Results {
		if x.Name == name {
			return x
		}
	}
	return result{}
}

func admin(t *testing.T, server *devdb.Server) *sql.DB {
	t.Helper()
	return dbtest.OpenDSN(t, server.DSN(""))
}

func databases(t *testing.T, server *devdb.Server) []string {
	t.Helper()
	names, err := texts(t.Context(), admin(t, server), sqlLeft)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestHealthy: on a server without a flaw all holds, within a minute, and the database is gone afterwards.
func TestHealthy(t *testing.T) {
	server := dbtest.Server(t)
	code, rep, progress := prove(t, options{dsn: plainDSN(server)})
	asked := 0
	for _, r := range rep.Results {
		switch r.Verdict {
		case holds:
			asked++
		case left:
		default:
			t.Errorf("%s: %s: %s", r.Name, r.Verdict, r.Seen)
		}
	}
	if code != exitHolds || asked < 25 {
		t.Errorf("exit code %d, %d checks hold", code, asked)
	}
	name := nameIn(t, progress)
	for _, left := range databases(t, server) {
		if left == name {
			t.Errorf("%s is still there", name)
		}
	}
	t.Logf("it took %s", rep.Took)
	if len(rep.Facts) != 3 {
		t.Errorf("%+v", rep.Facts)
	}
}

// nameIn is the database's name in what is said before the checks.
func nameIn(t *testing.T, progress string) string {
	t.Helper()
	_, name, found := strings.Cut(progress, "; the database is ")
	if name, _, _ = strings.Cut(name, "."); !found || !named.MatchString(name) {
		t.Fatalf("no database is named: %s", progress)
	}
	return name
}
