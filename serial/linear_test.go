package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// cutter opens connections that break now and then: a request that never leaves, or an answer that never
// arrives while the server goes on.
type cutter struct {
	dialer net.Dialer
	cuts   atomic.Int64
	one    int // in so many packets
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dialer.DialContext(ctx, network, addr)
	return &cutConn{Conn: conn, c: c}, err
}

// SyscallConn is hidden: the driver then does not look at the socket, and meets a cut where it hurts.
type cutConn struct {
	net.Conn
	c     *cutter
	calls int
}

var errCut = &net.OpError{Op: "read", Err: errors.New("cut by the test")}

func (c *cutConn) cut() bool {
	c.calls++
	if c.calls < 20 || rand.IntN(c.c.one) > 0 { // let it log in
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

// The history: who asked which series for how many numbers under which key, and what came back. An operation
// that was given up may have happened at any time, or never; it never ends, so it may also come last, where
// nobody sees it.
type ask struct {
	key    string
	amount int64
}

type got struct {
	unknown  bool
	from     int64
	mismatch bool
}

// state of a series: the counter and what each key has. Immutable; the list is short.
type state struct {
	next   int64
	claims string
}

func (s state) find(key string) (from, amount int64, ok bool) {
	rest := s.claims
	for rest != "" {
		var k string
		var f, n int64
		if _, err := fmt.Sscanf(rest, "%s %d %d\n", &k, &f, &n); err != nil {
			panic(err)
		}
		if k == key {
			return f, n, true
		}
		for rest[0] != '\n' {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	return 0, 0, false
}

var model = porcupine.Model{
	Init: func() any { return state{next: 1} },
	Step: func(before, input, output any) (bool, any) {
		s, in, out := before.(state), input.(ask), output.(got)
		from, amount, claimed := s.find(in.key)
		switch {
		case claimed && amount != in.amount:
			return out.unknown || out.mismatch, s
		case claimed:
			return out.unknown || !out.mismatch && out.from == from, s
		case out.mismatch || !out.unknown && out.from != s.next:
			return false, s
		}
		return true, state{s.next + in.amount, s.claims + fmt.Sprintf("%s %d %d\n", in.key, s.next, in.amount)}
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v: %+v", input, output)
	},
}

// TestLinearizable: 16 clients, 200 series, 10,000 claims, keys that collide, cuts at random. Every history
// must be one in which the claims of a series happened one after another.
func TestLinearizable(t *testing.T) {
	db, dsn := open(t)
	cfg := must(mysql.ParseDSN(dsn))
	c := &cutter{one: 40}
	cfg.DialFunc, cfg.Logger = c.dial, &mysql.NopLogger{}
	cut := sql.OpenDB(must(mysql.NewConnector(cfg)))
	cut.SetMaxIdleConns(16)
	defer func() { _ = cut.Close() }()

	const clients, lists, each = 16, 200, 625
	histories := make([][]porcupine.Operation, lists)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var unknown atomic.Int64
	begin := time.Now()
	for client := range clients {
		rnd := rand.New(rand.NewPCG(7, uint64(client)))
		wg.Go(func() {
			for range each {
				which, in := rnd.IntN(lists), ask{fmt.Sprint("k", rnd.IntN(30)), int64(1 + rnd.IntN(2))}
				s := must(serial.New(fmt.Sprint("s", which)))
				op := porcupine.Operation{ClientId: client, Input: in, Call: int64(time.Since(begin))}
				var out got
				for patience := rnd.IntN(2); ; patience-- { // some give up at the first answer that is missing
					res, err := claim(t.Context(), cut, s, in, client%2 == 0)
					out = got{from: res.Row.From, mismatch: errors.Is(err, serial.ErrMismatch)}
					if err == nil || out.mismatch {
						break
					}
					if out.unknown = patience == 0; out.unknown {
						unknown.Add(1)
						break
					}
				}
				op.Output, op.Return = out, int64(time.Since(begin))
				if out.unknown {
					op.Return = math.MaxInt64
				}
				mu.Lock()
				histories[which] = append(histories[which], op)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	total := 0
	for i, history := range histories {
		total += len(history)
		switch result := porcupine.CheckOperationsTimeout(model, history, 20*time.Second); result {
		case porcupine.Ok:
		default:
			t.Errorf("series %d, %d operations: %s", i, len(history), result)
		}
		if found := must(gaps.Find(t.Context(), db, must(serial.New(fmt.Sprint("s", i))))); found != nil {
			t.Errorf("series %d: %+v", i, found)
		}
	}
	if c.cuts.Load() < 20 || unknown.Load() == 0 {
		t.Errorf("only %d cuts, %d outcomes given up", c.cuts.Load(), unknown.Load())
	}
	t.Logf("%d operations in %s, %d cuts, %d outcomes given up", total, time.Since(begin).Round(time.Millisecond), c.cuts.Load(), unknown.Load())
}

// claim claims on the pool, or in a transaction of the caller's, whose lost COMMIT is not run again.
func claim(ctx context.Context, db *sql.DB, s *serial.Series, in ask, joined bool) (res onerow.Result[serial.Claim], err error) {
	if !joined {
		return s.Claim(ctx, db, in.key, in.amount)
	}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		res, err = s.Claim(ctx, tx, in.key, in.amount)
		return err
	})
	return res, err
}

// TestTheCheckerSees is the negative control: a history in which two keys got one number is refused.
func TestTheCheckerSees(t *testing.T) {
	bad := []porcupine.Operation{
		{ClientId: 0, Input: ask{"a", 1}, Output: got{from: 1}, Call: 1, Return: 2},
		{ClientId: 1, Input: ask{"b", 1}, Output: got{from: 1}, Call: 3, Return: 4},
	}
	if porcupine.CheckOperations(model, bad) {
		t.Fatal("one number twice passes")
	}
	bad[1].Output = got{from: 3}
	if porcupine.CheckOperations(model, bad) {
		t.Fatal("a gap passes")
	}
	bad[1].Output = got{from: 2}
	if !porcupine.CheckOperations(model, bad) {
		t.Fatal("the right history does not pass")
	}
}
