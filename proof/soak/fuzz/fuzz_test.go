package fuzz

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCutter ends most connections within what is sent, one in three never, and passes on exactly what came
// before the end.
func TestCutter(t *testing.T) {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := upstream.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }()
		}
	}()
	c, err := NewCutter(upstream.Addr().String(), rand.New(rand.NewPCG(1, 2)), 1000)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("0123456789"), 100)
	whole := 0
	for range 60 {
		conn, err := net.Dial("tcp", c.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(text); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(text))
		n, _ := io.ReadFull(conn, got) //nolint:errcheck // it is cut
		if !bytes.HasPrefix(text, got[:n]) {
			t.Fatalf("%q", got[:n])
		}
		if n == len(text) {
			whole++
		}
		_ = conn.Close()
	}
	if cuts := int(c.Cuts.Load()); cuts+whole != 60 || whole < 10 || cuts < 30 {
		t.Errorf("%d cut, %d whole", cuts, whole)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := upstream.Close(); err != nil {
		t.Error(err)
	}
}

// TestFindings: each entry names the seed, a kind that is common does not hide the others.
func TestFindings(t *testing.T) {
	f := NewFindings(77)
	if f.Any() {
		t.Error("nothing was added")
	}
	for range 100 {
		f.Add("common", "x")
	}
	f.Add("rare", "y %d", 5)
	if !f.Any() || f.Count("common") != 100 || len(f.listed) != maxListed+1 || !strings.Contains(f.listed[maxListed], "seed 77") || !strings.Contains(f.listed[maxListed], "y 5") {
		t.Errorf("%q", f.listed)
	}
	if text := f.Report(); !strings.Contains(text, "100  common") || !strings.Contains(text, "1  rare") {
		t.Error(text)
	}
}

// TestOptions: what has no meaning is refused, and the command to repeat a run has its seed and its flags.
func TestOptions(t *testing.T) {
	parse := func(args ...string) (*Options, error) {
		o := NewOptions(flag.NewFlagSet("x", flag.ContinueOnError), 8)
		o.set.SetOutput(io.Discard)
		return o, o.Parse(args)
	}
	for _, args := range [][]string{{"-minutes", "0"}, {"-seconds", "-1"}, {"-clients", "1"}, {"-engine", "oracle"}, {"more"}} {
		if _, err := parse(args...); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	o, err := parse("-seconds", "1.5", "-engine", "MySQL", "-seed", "9")
	if err != nil || o.Length.Seconds() != 1.5 || o.Engine != "mysql" || !strings.HasSuffix(o.command(), "x -engine=mysql -seconds=1.5 -seed 9") {
		t.Errorf("%+v, %v: %s", o, err, o.command())
	}
	if o, err := parse(); err != nil || o.Seed == 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestDrained: a queue that gets shorter is waited for, one that does not is given up.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := 100
		n, err := Drained(t.Context(), time.Second, func() (int, error) { time.Sleep(900 * time.Millisecond); left--; return left, nil })
		if n != 0 || err != nil {
			t.Errorf("%d left, %v", n, err)
		}
		if n, err = Drained(t.Context(), time.Second, func() (int, error) { return 7, nil }); n != 7 || err != nil {
			t.Errorf("%d left, %v", n, err)
		}
	})
}
