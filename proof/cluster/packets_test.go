//go:build cluster

package cluster

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/guard"
	"github.com/onerow/onerow/pool"
)

// TestTornPacket: what becomes of a packet whose transaction another node's has aborted between two of its
// statements. Galera may run the rest outside of it, so nothing travels together there on a pool of pool.Open,
// and pool.Check refuses one of guard.Packets. Group Replication refuses it.
func TestTornPacket(t *testing.T) {
	s := emptySite(t)
	dbtest.Exec(t, s.db[0], "CREATE TABLE torn (id INT NOT NULL PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, s.db[0], "INSERT INTO torn VALUES (1, 0)")
	s.same("torn")
	cfg, err := mysql.ParseDSN(nodes.DSN(0, s.name))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MultiStatements, cfg.InterpolateParams = true, true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	raw := sql.OpenDB(connector)
	packets := sql.OpenDB(guard.Packets(connector))
	defer func() {
		if err := errors.Join(raw.Close(), packets.Close()); err != nil {
			t.Error(err)
		}
	}()
	answer := make(chan error, 1)
	go func() {
		_, err := raw.ExecContext(t.Context(), "START TRANSACTION; UPDATE torn SET n = 7 WHERE id = 1; DO SLEEP(2); INSERT INTO torn VALUES (2, 7); COMMIT")
		answer <- err
	}()
	time.Sleep(500 * time.Millisecond)
	dbtest.Exec(t, s.db[1], "UPDATE torn SET n = 9 WHERE id = 1")
	err = <-answer
	s.same("torn")
	var n, rows int
	if err := s.db[0].QueryRowContext(t.Context(), "SELECT MIN(n), COUNT(*) FROM torn").Scan(&n, &rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("the packet is answered with %v; n is %d, and there are %d rows", err, n, rows)
	checked := pool.Check(t.Context(), packets)
	if nodes.Kind() == devdb.Galera {
		if !errors.Is(checked, pool.ErrSetting) {
			t.Errorf("Check says %v", checked)
		}
		return
	}
	if err == nil || n != 9 || rows != 1 {
		t.Errorf("the packet is answered with %v; n is %d, and there are %d rows", err, n, rows)
	}
}
