// Package racetest is what the tests of several packages ask of crashtest: which calls of a schedule answered
// what, whether a naive twin is caught where it fails, and a pool whose statements are counted.
//
// Open this package when a race is tested in another way.
package racetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/crashtest"
)

// Answers is what the calls of one schedule were answered beside their errors, in words.
type Answers struct {
	mu   sync.Mutex
	list []string
}

// Add notes an answer.
func (a *Answers) Add(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, what)
}

// List is the answers since Clear.
func (a *Answers) List() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// Clear begins another schedule.
func (a *Answers) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = nil
}

// Exactly is a condition: these answers, in any order. One call alone may have but the first.
func (a *Answers) Exactly(want ...string) func(context.Context, *sql.DB) error {
	return func(context.Context, *sql.DB) error {
		got, want := a.List(), slices.Clone(want)
		if len(got) == 1 && len(want) > 1 {
			want = want[:1]
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Errorf("answered %q, want %q", got, want)
		}
		return nil
	}
}

// Caught fails the test unless the race of a naive twin is caught: not in a schedule of
// one call after the other, and in one that shows these statements in this order.
func Caught(t *testing.T, race crashtest.Race, shows ...string) {
	t.Helper()
	report, err := crashtest.ExploreRace(t.Context(), race)
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v\n%s", err, report)
	}
	first := failures.List[0]
	if first.Preemptions == 0 {
		t.Errorf("it fails without a race:\n%s", first)
	}
	rest := first.Table
	for _, statement := range shows {
		_, after, found := strings.Cut(rest, statement)
		if !found {
			t.Fatalf("the schedule does not show %q in its place:\n%s", statement, first)
		}
		rest = after
	}
	t.Logf("workflow %s: caught by %d of %d interleavings (%s, %s), first:\n%s", report.Workflow, len(failures.List), report.Schedules,
		report.Engine, report.Isolation, first)
}

// Counted is a pool on the schema of dsn whose statements are counted: see crashtest.Count.
func Counted(t testing.TB, dsn string) (*sql.DB, *crashtest.Connector) {
	t.Helper()
	inner, err := mysql.MySQLDriver{}.OpenConnector(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connector := crashtest.Wrap(inner)
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, connector
}
