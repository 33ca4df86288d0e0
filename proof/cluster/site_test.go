//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
)

// site is a schema of one test's own, with a pool for each node.
type site struct {
	testing.TB
	name string
	db   []*sql.DB
}

// newSite makes a schema with the toolkit's tables and those of the test.
func newSite(t testing.TB, ddl ...string) *site {
	t.Helper()
	s := emptySite(t)
	if err := migrations.Up(t.Context(), s.db[0]); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range ddl {
		dbtest.Exec(t, s.db[0], stmt)
	}
	return s
}

// emptySite makes a schema without tables.
func emptySite(t testing.TB) *site {
	t.Helper()
	s := &site{TB: t, name: "t_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()))}
	ctx := context.Background() // the test's own ends before its clean-up
	if err := errors.Join(nodes.Server(0).DropDatabase(ctx, s.name), nodes.Server(0).CreateDatabase(ctx, s.name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nodes.Server(0).DropDatabase(ctx, s.name); err != nil {
			t.Error(err)
		}
	})
	for i := range nodes.Nodes() {
		s.db = append(s.db, open(t, i, s.name))
		dbtest.Eventually(t, time.Minute, func() (bool, string) { // a connection does not wait for what others have made
			err := s.db[i].PingContext(ctx)
			return err == nil, fmt.Sprintf("node %d knows the schema: %v", i, err)
		})
	}
	return s
}

// open is a pool of the recommended settings on one node; pool.Open makes its reads causal.
func open(t testing.TB, node int, database string) *sql.DB {
	t.Helper()
	db, err := pool.Open(nodes.DSN(node, database))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Log(err) // of a node that was killed
		}
	})
	return db
}

// crowd calls f from that many goroutines for each node at once, and fails with what any of them returned.
func (s *site) crowd(callers int, f func(ctx context.Context, db *sql.DB, caller int) error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	errs := make([]error, callers*len(s.db))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f(ctx, s.db[i%len(s.db)], i) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// sqlTables reads the catalog.
const sqlTables = `SELECT COALESCE(GROUP_CONCAT(table_name ORDER BY table_name), '') FROM information_schema.tables
 WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`

// same waits until each node has applied what all have committed, and compares the tables by checksum; without names
// all tables of the schema.
func (s *site) same(tables ...string) {
	s.Helper()
	if len(tables) == 0 {
		tables = strings.Split(dbtest.Scan[string](s, s.db[0], sqlTables), ",")
	}
	var first []string
	for i, db := range s.db {
		sums := checksums(s, db, tables)
		if i == 0 {
			first = sums
		}
		if !slices.Equal(sums, first) {
			s.Errorf("the nodes differ:\nnode 0: %s\nnode %d: %s", first, i, sums)
		}
	}
}

// checksums are a node's, each with the name of its table. A SELECT waits for what others have committed, CHECKSUM
// does not.
func checksums(t testing.TB, db *sql.DB, tables []string) (sums []string) {
	t.Helper()
	for _, table := range tables {
		n := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM `"+table+"`")
		var name, sum string
		if err := db.QueryRowContext(t.Context(), "CHECKSUM TABLE `"+table+"` EXTENDED").Scan(&name, &sum); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, fmt.Sprintf("%s(%d):%s", table, n, sum))
	}
	return sums
}
