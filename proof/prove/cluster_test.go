//go:build cluster

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
)

// TestCluster tries all on two nodes of a cluster of its own, and prints the report. What pool.Open has set up
// holds there, whatever plain sessions do.
//
//	ONEROW_CLUSTER=galera go test -C proof -tags cluster -timeout 30m -v -run TestCluster ./prove
func TestCluster(t *testing.T) {
	kind := devdb.ClusterKind(os.Getenv("ONEROW_CLUSTER"))
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil { // connections are cut on purpose
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	nodes, err := devdb.StartCluster(ctx, kind, devdb.ClusterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := nodes.Close(); err != nil {
			t.Error(err)
		}
	}()
	servers, err := configure(options{dsn: plainDSN(nodes.Server(0)), node: plainDSN(nodes.Server(1))})
	if err != nil {
		t.Fatal(err)
	}
	var said, out bytes.Buffer
	s, err := open(t.Context(), options{all: 20 * time.Minute}, servers, &said)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	results, err := s.judge(t.Context(), checks(), &said)
	if gone := s.close(&said); err != nil || gone != nil {
		t.Fatalf("%v, %v: %s", err, gone, said.String())
	}
	rep := report{Server: s.about, Took: time.Since(began).Round(time.Second).String(), Results: results, Facts: s.facts}
	if _, err := rep.print(&out, false); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "%s\n%s", said.String(), out.String())
	for _, r := range results {
		if r.With == opened && r.Verdict != holds || strings.HasPrefix(r.Name, "node-") && r.Verdict != holds && r.Verdict != falls {
			t.Errorf("%s: %s: %s", r.Name, r.Verdict, r.Seen)
		}
	}
}
