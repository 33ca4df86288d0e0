package racetest

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/guard"
)

// Together has a workflow's sessions send together what may be, as those of pool.Open do.
func Together(w crashtest.Workflow) crashtest.Workflow {
	w.Name = strings.TrimPrefix(w.Name+", together", ", ")
	w.DSN += "&multiStatements=true&interpolateParams=true"
	w.Wrap = guard.Packets
	return w
}

// CountedTogether is [Counted] for a pool that sends together what may be: what is counted are round trips.
func CountedTogether(t testing.TB, dsn string) (*sql.DB, *crashtest.Connector) {
	t.Helper()
	inner, err := mysql.MySQLDriver{}.OpenConnector(dsn + "&multiStatements=true&interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	connector := crashtest.Wrap(inner)
	db := sql.OpenDB(guard.Packets(connector))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, connector
}

// RoundTrips fails the test if a call takes another number of them.
func RoundTrips(t testing.TB, c *crashtest.Connector, what string, want int, call func() error) {
	t.Helper()
	log, err := crashtest.Count(c, call)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if len(log) != want {
		t.Errorf("%s: %d round trips, want %d:\n%s", what, len(log), want, log)
	}
}

// HasPackets fails the test if no statement of a workflow travelled with BEGIN.
func HasPackets(t *testing.T, log crashtest.Log) {
	t.Helper()
	for _, s := range log {
		if s.Begins {
			return
		}
	}
	t.Errorf("nothing travelled with BEGIN:\n%s", log)
}
