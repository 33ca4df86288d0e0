package main

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/onerow/onerow/proof/soak/check"
	"github.com/onerow/onerow/proof/soak/journal"
)

func TestTable(t *testing.T) {
	found := []check.Finding{
		{Promise: check.Updates, Column: check.Doubled, Text: "a"}, {Promise: check.Updates, Column: check.Doubled, Text: "b"},
		{Promise: check.Updates, Column: check.Stuck, Text: "in a column that the row does not have"},
	}
	lines := strings.Split(strings.TrimSpace(table(found)), "\n")
	if len(lines) != 1+len(check.Promises) {
		t.Fatalf("%d lines: %s", len(lines), table(found))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, string(check.Updates)) {
			if got := strings.Fields(strings.TrimPrefix(line, string(check.Updates))); !slices.Equal(got, []string{"0", "2", "-", "-", "-", "1"}) {
				t.Errorf("%q", line)
			}
		}
	}
}

func TestOperations(t *testing.T) {
	text := operations([]journal.Entry{
		{Op: journal.Create, Resource: "project", Result: journal.OK},
		{Op: journal.Create, Resource: "project", Result: journal.OK, Maybe: true},
		{Op: journal.Do, Result: journal.Unknown, Maybe: true},
	})
	for _, want := range []string{"create project 2 0 0 0 1", "key, one commit 0 0 0 1 1", "together 2 0 0 1 2"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestIdleShowsNothing: zeros count only after every operation was acknowledged and rows were deleted.
func TestIdleShowsNothing(t *testing.T) {
	var entries []journal.Entry
	for _, op := range journal.Ops {
		if err := unshown(entries, work{rows: 1}); err == nil || !strings.Contains(err.Error(), "nothing is shown") {
			t.Errorf("before %q: %v", op, err)
		}
		entries = append(entries, journal.Entry{Op: op, Result: journal.Failed}, journal.Entry{Op: op, Result: journal.OK})
	}
	if err := unshown(entries, work{}); err == nil {
		t.Error("no row was deleted")
	}
	if err := unshown(entries, work{rows: 1}); err != nil {
		t.Error(err)
	}
}

// TestCommitToxic: it ends a connection at a COMMIT and passes everything else.
func TestCommitToxic(t *testing.T) {
	passed, behind := 0, 0
	for range 50 {
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk, 9)
		stub := toxics.NewToxicStub(in, out)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			(&commitToxic{Percent: 100}).Pipe(stub)
		}()
		in <- &stream.StreamChunk{Data: []byte("\x09\x00\x00\x00\x03SELECT 1"), Timestamp: time.Now()}
		in <- &stream.StreamChunk{Data: []byte("\x07\x00\x00\x00\x03COMMIT"), Timestamp: time.Now()}
		<-ended
		if !stub.Closed() {
			t.Fatal("the connection was not ended")
		}
		passed++
		if n := len(out); n == 2 {
			behind++
		} else if n != 1 {
			t.Fatalf("%d statements were passed on", n)
		}
	}
	if behind == 0 || behind == passed {
		t.Errorf("%d of %d COMMITs were passed on", behind, passed)
	}
}

// TestProxyPort: no proxy listens where the system gives ports to connections, so none is taken while a proxy
// is closed.
func TestProxyPort(t *testing.T) {
	all, err := newProxies(4, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		_, port, err := net.SplitHostPort(p.Listen)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(port); err != nil || n < firstPort || n >= firstPort+ports {
			t.Errorf("port %s, %v", port, err)
		}
		p.Stop()
	}
}
