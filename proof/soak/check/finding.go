package check

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/onerow/onerow"

	"github.com/onerow/onerow/proof/soak/journal"
)

// Column is a way to break a promise.
type Column int

// The columns of the table.
const (
	Lost      Column = iota // it was acknowledged and is not there
	Doubled                 // it is there, or was done, more often than it was asked for, or although it was refused
	Orphaned                // it is there without what it belongs to
	Duplicate               // two where one is promised: names, numbers, answers to one key
	WrongFlag               // the quota's flag is not what the limit says
	Stuck                   // it waits, and nothing will end that
	columns
)

// Columns are their names, in their order.
var Columns = []string{"acknowledged and lost", "doubled", "orphaned", "duplicates", "wrong flags", "stuck"}

// Promise is a row of the table.
type Promise string

// The promises.
const (
	Creates   Promise = "repo: a create is made once"
	Tables    Promise = "repo: a row is in one table"
	Names     Promise = "repo: names"
	Updates   Promise = "repo: updates"
	Deletes   Promise = "repo: deletions"
	Trees     Promise = "cascade: trees go whole"
	Jobs      Promise = "cascade: jobs and counts"
	Trash     Promise = "trash: trees come back whole"
	Quotas    Promise = "quota: flags and marks"
	OneCommit Promise = "keys: one commit"
	TwoSteps  Promise = "keys: two steps, leases"
	Serials   Promise = "serial: numbers"
	Streams   Promise = "ordering: streams"
)

// Promises are all rows, each with the columns that its check can fill.
var Promises = []struct {
	Name    Promise
	Columns []Column
}{
	{Creates, []Column{Lost, Doubled, Duplicate}},
	{Tables, []Column{Lost, Doubled, Stuck}},
	{Names, []Column{Lost, Duplicate}},
	{Updates, []Column{Lost, Doubled}},
	{Deletes, []Column{Lost}},
	{Trees, []Column{Lost, Orphaned}},
	{Jobs, []Column{Lost, Doubled, Stuck}},
	{Trash, []Column{Lost, Doubled, Stuck}},
	{Quotas, []Column{Lost, WrongFlag, Stuck}},
	{OneCommit, []Column{Lost, Doubled, Duplicate, Stuck}},
	{TwoSteps, []Column{Lost, Doubled, Duplicate, Stuck}},
	{Serials, []Column{Lost, Doubled, Orphaned, Duplicate}},
	{Streams, []Column{Lost, Doubled, Duplicate}},
}

// Finding is a broken promise.
type Finding struct {
	Promise Promise
	Column  Column
	Text    string
}

// String is a line for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Promise, Columns[f.Column], f.Text)
}

// Counts are the findings by promise and column.
func Counts(found []Finding) map[Promise][]int {
	counts := map[Promise][]int{}
	for _, p := range Promises {
		counts[p.Name] = make([]int, columns)
	}
	for _, f := range found {
		counts[f.Promise][f.Column]++
	}
	return counts
}

// checker is one check.
type checker struct {
	db      onerow.DB
	history *history
	rows    map[string]map[int64]*row
	made    map[string][]request
	jobs    map[string][]job
	found   []Finding
}

func (c *checker) add(p Promise, col Column, format string, args ...any) {
	c.found = append(c.found, Finding{p, col, fmt.Sprintf(format, args...)})
}

// Run checks everything and returns what it found. Nothing else may run. An error means that the tables could
// not be read.
func Run(ctx context.Context, db onerow.DB, entries []journal.Entry) ([]Finding, error) {
	c := &checker{db: db, history: newHistory(entries), rows: map[string]map[int64]*row{}, made: map[string][]request{}, jobs: map[string][]job{}}
	for _, step := range []func(context.Context) error{
		c.readRows, c.readRequests, c.readJobs,
		c.creates, c.states, c.names, c.updates, c.deletes, c.trees, c.jobCounts, c.folders, c.quotas,
		c.keysInOneCommit, c.keysInTwoSteps, c.serials, c.streams,
	} {
		if err := step(ctx); err != nil {
			return c.found, fmt.Errorf("soak: check: %w", err)
		}
	}
	return c.found, nil
}

func (c *checker) query(ctx context.Context, query string, scan func(*sql.Rows) error, args ...any) error {
	if err := onerow.Query(ctx, c.db, query, args, scan); err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(query), " "))
	}
	return nil
}
