//go:build cluster

package cluster

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
)

// stale are the data source names' parameters that switch causal reads off.
func stale() string {
	if nodes.Kind() == devdb.Galera {
		return "?wsrep_sync_wait=0"
	}
	return "?group_replication_consistency='EVENTUAL'"
}

// pools are one of [pool.Open] for each node, on a site's schema, that say nothing but params.
func pools(s *site, params string) []*sql.DB {
	t := s.TB
	t.Helper()
	all := make([]*sql.DB, nodes.Nodes())
	for i := range all {
		cfg := nodes.Server(i).Config("")
		db, err := pool.Open(fmt.Sprintf("%s:%s@tcp(%s)/%s%s", cfg.User, cfg.Passwd, cfg.Addr, s.name, params))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxIdleConns(20)
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		all[i] = db
		awaitSchema(t, db)
	}
	return all
}

// awaitSchema waits until a node has the schema of its pool: a connection is not causal.
func awaitSchema(t testing.TB, db *sql.DB) {
	t.Helper()
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		err := db.PingContext(t.Context())
		return err == nil, fmt.Sprint(err)
	})
}

// TestCausalReads: what was committed through one node is there on the next at once, as long as a node that
// does not wait would lag behind.
func TestCausalReads(t *testing.T) {
	for name, params := range map[string]string{"causal": "", "stale": stale()} {
		t.Run(name, func(t *testing.T) {
			db := pools(emptySite(t), params)
			dbtest.Exec(t, db[0], "CREATE TABLE note (id INT PRIMARY KEY, text VARCHAR(10000)) ENGINE=InnoDB")
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				var n int
				err := onerow.QueryRow(t.Context(), db[1], "SELECT COUNT(*) FROM note", nil, &n)
				return err == nil, fmt.Sprint(err)
			})
			missing := 0
			for i := range 300 {
				dbtest.Exec(t, db[0], "INSERT INTO note VALUES (?, REPEAT('x', 10000))", i)
				var n int
				if err := onerow.QueryRow(t.Context(), db[1], "SELECT COUNT(*) FROM note WHERE id = ?", []any{i}, &n); err != nil {
					t.Fatal(err)
				}
				missing += 1 - n
			}
			t.Logf("%d of 300 rows were not there", missing)
			if params == "" && missing > 0 {
				t.Errorf("%d of 300 rows were not there", missing)
			}
			for _, db := range db {
				if err := pool.Check(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
		})
	}
	bare := dbtest.OpenDSN(t, nodes.Server(0).DSN(""))
	if err := pool.Check(t.Context(), bare); err == nil {
		t.Error("a pool that does not wait is not refused")
	}
}
