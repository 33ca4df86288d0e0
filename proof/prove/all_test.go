//go:build prove

// Tests that no push runs try all that is planted, and all checks with the rights that -grants prints.
package main

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestAllPlanted: each database that breaks a promise is named.
func TestAllPlanted(t *testing.T) {
	for _, p := range anyServer {
		p.try(t, dbtest.Server(t))
	}
}

// TestAllPlantedServers: so is each server that no push tries.
func TestAllPlantedServers(t *testing.T) {
	server := plantedServer(t)
	for _, p := range ownServer {
		p.try(t, server)
	}
}

// TestNode: a second server that has the same tables, and hears of nothing, is no node.
func TestNode(t *testing.T) {
	first, second := dbtest.Server(t), private(t)
	o := options{dsn: plainDSN(first), node: plainDSN(second) + "?timestamp=1700000000", only: "node-clock"}
	o.made = func(name string) { makeTwin(t, second, name) }
	if code, rep, _ := prove(t, o); code != exitFalls || rep.of("node-clock").Verdict != falls {
		t.Errorf("exit code %d, %+v", code, rep.Results)
	}
	o.node, o.only = plainDSN(second), "node-"
	code, rep, _ := prove(t, o)
	for _, name := range []string{"node-reads", "node-reads-opened", "node-names"} {
		if r := rep.of(name); code != exitFalls || r.Verdict != falls {
			t.Errorf("exit code %d, %+v", code, r)
		}
	}
	if r := rep.of("node-clock"); r.Verdict != holds {
		t.Errorf("%+v", r)
	}
	o.made, o.only = nil, "node-reads"
	if code, rep, _ := prove(t, o); code != exitFalls || !strings.Contains(rep.of("node-reads").Seen, "is not on -node") {
		t.Errorf("exit code %d, %+v", code, rep.Results)
	}
}

// makeTwin makes the database of a run on another server.
func makeTwin(t *testing.T, server *devdb.Server, name string) {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", server.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	if err := (&site{work: db}).makeTables(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestGrants: with what -grants prints all is tried, and without PROCESS it is said what is not.
func TestGrants(t *testing.T) {
	server := dbtest.Server(t)
	db := admin(t, server)
	const name = "prove_few"
	dbtest.Exec(t, db, "CREATE USER "+name+"@'%' IDENTIFIED BY 'few'")
	defer dbtest.Exec(t, db, "DROP USER "+name+"@'%'")
	dsn := name + ":few@tcp(" + server.Config("").Addr + ")/"
	_, printed := program(t, "-dsn", dsn, "-grants")
	statements := regexp.MustCompile(`(?m)^GRANT .*`).FindAllString(printed, -1)
	if len(statements) != 3 {
		t.Fatal(printed)
	}
	dbtest.Exec(t, db, statements[0])
	_, rep, _ := prove(t, options{dsn: dsn, only: "race-create,one-request"})
	if a, b := rep.of("one-request"), rep.of("race-create"); a.Verdict != holds || b.Verdict != untried || !strings.Contains(b.Seen, "a right is missing: PROCESS") || rep.Exit != exitNoRun {
		t.Errorf("%+v", rep)
	}
	for _, statement := range statements[1:] {
		dbtest.Exec(t, db, statement)
	}
	code, rep, _ := prove(t, options{dsn: dsn})
	for _, r := range rep.Results {
		if r.Verdict != holds && r.Verdict != left || code != exitHolds {
			t.Errorf("%+v", r)
		}
	}
}
