// Package cost measures what a server does for each statement of a call: how many entries of its tables and
// indexes it reads, and how many locks on rows the transaction has afterwards. A test calls beside few rows
// and beside many, and wants the same:
//
//	cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error { _, err := keys.Purge(ctx, db, 10); return err })
//
// Reads are the session's Handler_read counters. Locks are read past the caches of both engines:
// performance_schema.data_locks on MySQL, the status of InnoDB on MariaDB. A statement outside of a
// transaction gets one of its own, so that its locks last until they are counted. Rows that a transaction
// inserted are not counted: InnoDB has no lock for them until somebody asks.
//
// Open this package when a statement is to be measured, or found to grow with the data.
package cost

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Statement is one that a call sent.
type Statement struct {
	SQL    string // with its placeholders
	Read   int64  // entries of tables and indexes
	Locked int64  // rows and gaps, more than before it
}

func (s Statement) String() string {
	return fmt.Sprintf("%8d read %8d locked  %.150s", s.Read, s.Locked, strings.Join(strings.Fields(s.SQL), " "))
}

// Of makes the call on a pool of its own, and returns its statements without those that begin and end
// transactions.
func Of(t testing.TB, dsn string, call func(ctx context.Context, db *sql.DB) error) []Statement {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.InterpolateParams = true // a prepared statement is not measured
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{inner: inner, observer: sql.OpenDB(inner)}
	var version string
	if err := m.observer.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	m.mariaDB = strings.Contains(version, "MariaDB")
	if err := m.openTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(m)
	err = call(t.Context(), db)
	for _, pool := range []*sql.DB{db, m.observer} {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
	if err != nil {
		t.Fatalf("the call that is measured: %v", err)
	}
	return m.list
}

// Costs are those of a package's calls, each a test of its own.
type Costs struct {
	t         *testing.T
	few, many string
	most      int64
	sent      []Statement
}

// Compare measures calls one after the other: every statement is to be flat, and to read and lock no more
// than most.
func Compare(t *testing.T, few, many string, most int64) *Costs {
	return &Costs{t: t, few: few, many: many, most: most}
}

// Call measures one.
func (c *Costs) Call(name string, call func(ctx context.Context, db *sql.DB) error) {
	c.t.Helper()
	c.t.Run(name, func(t *testing.T) {
		t.Helper()
		for _, s := range Flat(t, c.few, c.many, call) {
			if t.Log(s); s.Locked > c.most || s.Read > c.most && !s.catalog() {
				t.Errorf("more than %d: %s", c.most, s)
			}
			c.sent = append(c.sent, s)
		}
	})
}

// Few is the smaller size.
const Few = 1000

// Many is the larger size: 20,000, which shows what grows, or what ONEROW_COST_ROWS says.
func Many(t testing.TB) int {
	t.Helper()
	text := os.Getenv("ONEROW_COST_ROWS")
	if text == "" {
		return 20 * Few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2*Few {
		t.Fatalf("ONEROW_COST_ROWS=%s: want a number of rows, %d or more", text, 2*Few)
	}
	return n
}

// Numbers is a WITH clause that has the numbers 1 to n, by the thousand, in numbers (i): further than either
// engine recurses.
func Numbers(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 999),
 numbers (i) AS (SELECT b.i * 1000 + a.i + 1 FROM s AS a JOIN s AS b ON b.i < %d) `, n/1000)
}

// slack is what chance may add: an entry at the edge of a page is read, or locked, once more; one that was
// deleted and is written again is locked, in each index, if the server has not yet purged it.
const slack = 8

// Flat fails the test unless each statement of the call reads and locks the same beside few rows and beside
// many. It returns what the statements cost beside many.
func Flat(t testing.TB, few, many string, call func(ctx context.Context, db *sql.DB) error) []Statement {
	t.Helper()
	small, big := Of(t, few, call), Of(t, many, call)
	if len(small) != len(big) {
		t.Errorf("%d statements beside few rows, %d beside many:\n%s\n\n%s", len(small), len(big), table(small), table(big))
		return big
	}
	for i, s := range small {
		if b := big[i]; unnumbered(b.SQL) != unnumbered(s.SQL) || b.Read > s.Read+slack && !s.catalog() || b.Locked > s.Locked+slack {
			t.Errorf("grows with the table:\n%s beside few\n%s beside many", s, b)
		}
	}
	return big
}

// catalog says whether it reads the catalog, which has the tables of all schemas, those of other tests among
// them.
func (s Statement) catalog() bool {
	return strings.Contains(strings.ToLower(s.SQL), "information_schema")
}

// unnumbered is a statement without the numbers that are written into it.
func unnumbered(sql string) string { return digits.ReplaceAllString(sql, "0") }

var digits = regexp.MustCompile(`\d+`)

func table(statements []Statement) string {
	var lines []string
	for _, s := range statements {
		lines = append(lines, s.String())
	}
	return strings.Join(lines, "\n")
}
