//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
)

// A pool with all nodes leaves the one that is out of the cluster; without a majority nobody writes, and the caller
// hears of it.
func TestHosts(t *testing.T) {
	s := emptySite(t)
	dbtest.Exec(t, s.db[0], "CREATE TABLE a (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
	s.same("a")
	last := nodes.Nodes() - 1
	var cfg *mysql.Config
	var hosts []string
	for i := last; i >= 0; i-- { // the last is preferred
		var err error
		if cfg, err = mysql.ParseDSN(nodes.DSN(i, s.name)); err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, cfg.Addr)
	}
	cfg.Addr = strings.Join(hosts, ",")
	db := must[*sql.DB](t)(pool.Open(cfg.FormatDSN()))
	t.Cleanup(func() { _ = db.Close() })
	write := func(id int, patience time.Duration) (port int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := onerow.QueryRow(ctx, tx, "SELECT @@port", nil, &port); err != nil {
				return err
			}
			return second(tx.ExecContext(ctx, "INSERT INTO a VALUES (?)", id))
		})
		return port, err
	}
	preferred, err := write(1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	leave(t, last)
	if port, err := write(2, time.Minute); err != nil || port == preferred {
		t.Errorf("the node that left took a write, or nobody did: port %d, %v", port, err)
	}
	comeBack(t, last)
	s.same("a")
	for _, node := range []int{last, last - 1} {
		if err := nodes.Pause(node); err != nil {
			t.Fatal(err)
		}
	}
	// Shorter than the five seconds after which nodes suspect each other: none is expelled when they go on.
	began := time.Now()
	_, err = write(3, 3*time.Second)
	t.Logf("without a majority, after %v: %v", time.Since(began).Round(time.Millisecond), err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a node alone answered a write with %v", err)
	}
	unknown := errors.Is(err, onerow.ErrOutcomeUnknown)
	for _, node := range []int{last, last - 1} {
		if err := nodes.Continue(node); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, s.db)
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		_, err := write(4, 10*time.Second)
		var there *mysql.MySQLError
		return err == nil || errors.As(err, &there) && there.Number == 1062, "the three take writes again"
	})
	if n := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM a WHERE id = 3"); n > 0 && !unknown {
		t.Error("a write that was refused is there")
	}
	s.same("a")
}

// settled waits until all nodes have answered causal reads for a while.
func settled(t *testing.T, all []*sql.DB) {
	t.Helper()
	in := 0 // a row
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		for _, db := range all {
			var n int
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM a").Scan(&n); err != nil {
				in = 0
				return false, err.Error()
			}
		}
		time.Sleep(100 * time.Millisecond)
		in++
		return in > 20, "the nodes answer"
	})
}
