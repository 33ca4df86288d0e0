//go:build cluster

package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// A node that is killed, stopped or paused comes back where it was, and has what it missed.
func TestNodes(t *testing.T) {
	s := emptySite(t)
	dbtest.Exec(t, s.db[0], "CREATE TABLE a (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
	for i := range nodes.Nodes() {
		t.Log(nodes.Server(i).Source(), nodes.Server(i).Version())
		dbtest.Exec(t, s.db[i], "INSERT INTO a VALUES (?)", i)
	}
	s.same("a")
	last := nodes.Nodes() - 1
	for i, end := range []func(*devdb.Cluster, int) error{(*devdb.Cluster).Kill, (*devdb.Cluster).Stop} {
		if err := end(nodes, last); err != nil {
			t.Fatal(err)
		}
		dbtest.Eventually(t, 30*time.Second, func() (bool, string) { // while the others wait for the dead
			_, err := s.db[0].ExecContext(t.Context(), "INSERT INTO a VALUES (?)", 10+i)
			return err == nil, "the others take writes"
		})
		rejoin(t, last)
		s.same("a")
	}
	if err := nodes.Pause(last); err != nil {
		t.Fatal(err)
	}
	if err := nodes.Continue(last); err != nil {
		t.Fatal(err)
	}
	rejoin(t, last)
	s.same("a")
}

// rejoin brings a node back.
func rejoin(t testing.TB, node int) {
	t.Helper()
	began := time.Now()
	if err := nodes.Rejoin(context.Background(), node); err != nil {
		t.Fatal(err)
	}
	t.Logf("node %d is back after %v", node, time.Since(began).Round(time.Millisecond))
}
