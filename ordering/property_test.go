package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// cutter opens connections that break now and then, between any two packets: a request that never leaves, an
// answer that never arrives while the server goes on.
type cutter struct {
	dialer net.Dialer
	cuts   atomic.Int64
	rnd    *rand.Rand // the test delivers from one goroutine
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dialer.DialContext(ctx, network, addr)
	return &cutConn{Conn: conn, c: c}, err
}

type cutConn struct {
	net.Conn
	c     *cutter
	calls int
}

var errCut = &net.OpError{Op: "read", Err: errors.New("cut by the test")}

func (c *cutConn) cut() bool {
	c.calls++
	if c.calls < 20 || c.c.rnd.IntN(60) > 0 { // let it log in
		return false
	}
	c.c.cuts.Add(1)
	return true
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.cut() {
		return 0, errors.Join(errCut, c.Close())
	}
	return c.Conn.Write(b)
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.cut() {
		return 0, errors.Join(errCut, c.Close())
	}
	return c.Conn.Read(b)
}

// day makes a day of messages of a user, in two runs, and an order of delivery with duplicates.
func day(rnd *rand.Rand, user int64) (messages []ping, delivered []ping) {
	for seq := int64(1); seq <= 10; seq++ {
		messages = append(messages, ping{User: user, Meters: 50 + rnd.Int64N(150), At: seq * 30_000, Seq: seq, Run: 1 + seq/6})
	}
	for _, p := range messages {
		for range 1 + rnd.IntN(3)/2*rnd.IntN(3) {
			delivered = append(delivered, p)
		}
	}
	swap := func(i, j int) { delivered[i], delivered[j] = delivered[j], delivered[i] }
	if rnd.IntN(2) == 0 {
		rnd.Shuffle(len(delivered), swap)
	} else { // nearly in order, as networks are
		for range 6 {
			i := rnd.IntN(len(delivered) - 1)
			swap(i, i+1)
		}
	}
	return messages, delivered
}

// TestRunners: any permutation with duplicates of a day of messages, cuts between any two packets, redelivery
// until an answer comes.
func TestRunners(t *testing.T) {
	for seed, hold := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("hold=%v,keep=%v", hold, keep), func(t *testing.T) {
				db, dsn := open(t)
				rnd := rand.New(rand.NewPCG(uint64(seed), 11))
				c := &cutter{rnd: rand.New(rand.NewPCG(5, 5))}
				cfg := must(mysql.ParseDSN(dsn))
				cfg.DialFunc, cfg.Logger = c.dial, &mysql.NopLogger{}
				cut := sql.OpenDB(must(mysql.NewConnector(cfg)))
				defer func() { _ = cut.Close() }()
				g := &ordering.Guard[runState]{Consumer: "runs", Hold: hold, Keep: keep, First: 1}
				redelivered := 0
				for round := range 16 {
					for _, table := range []string{"run", "tendency", "message"} {
						dbtest.Exec(t, db, "DELETE FROM "+table)
					}
					messages, delivered := day(rnd, int64(round+1))
					want := messages
					if !hold {
						want = raising(delivered)
					}
					for i, p := range delivered {
						for n := 0; ; n++ {
							_, err := g.Apply(t.Context(), cut, p.message(), apply)
							if err == nil {
								break
							}
							if redelivered++; n == 50 {
								t.Fatalf("round %d, delivery %d: %v", round, i, err)
							}
						}
					}
					if got, want := stored(t, db), tables(want); got != want {
						t.Fatalf("round %d: delivered %+v\ngot\n%s\nwant\n%s", round, delivered, got, want)
					}
				}
				if c.cuts.Load() < 20 {
					t.Errorf("only %d cuts", c.cuts.Load())
				}
				t.Logf("%d cuts, %d redeliveries", c.cuts.Load(), redelivered)
			})
		}
	}
}

// raising are the messages that raised the maximum, in the order of their delivery, which is the order of
// their numbers.
func raising(delivered []ping) (all []ping) {
	last := int64(0)
	for _, p := range delivered {
		if p.Seq > last {
			all, last = append(all, p), p.Seq
		}
	}
	return all
}
