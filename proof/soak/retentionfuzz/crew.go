package retentionfuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

const envDSN = "ONEROW_RETENTION_DSN"

// worker is the process of a worker. It ends when its input does, so with the one that started it.
func worker(args []string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // they reach all processes; this one is stopped by the first
	set := flag.NewFlagSet("worker", flag.ContinueOnError)
	seed := set.Uint64("seed", 0, "of the design")
	draws := set.Uint64("draws", 0, "of this worker")
	if err := set.Parse(args); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	d, err := draw(*seed)
	if err != nil {
		return err
	}
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	db, err := pool.Open(os.Getenv(envDSN))
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	r := rand.New(rand.NewPCG(*seed, *draws)) //nolint:gosec // to be repeated
	c := cascade.Config{Poll: 50 * time.Millisecond, Lease: 2 * time.Second, Load: 1, Parallel: 1 + r.IntN(2), ClaimJobs: []int{0, 0, 1, 30}[r.IntN(4)],
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	w, err := cascade.NewWorker(db, d.plan(), c)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is all
		cancel()
	}()
	err = w.Run(ctx)
	fuzz.Close(db)
	return err //nolint:wrapcheck // it says all
}

// crew are the worker processes. The first one is killed by nobody, so that its memory can grow.
type crew struct {
	*world
	r    *rand.Rand
	dsns []string

	mu    sync.Mutex
	all   []*member
	kills int
	hired uint64
}

type member struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	errors tail
	ended  chan struct{}
	told   bool // that it is to end, or killed
}

// tail is the end of what a worker has said.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

// said is what the workers have said last.
func (c *crew) said() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.all {
		all = append(all, fmt.Sprintf("\n   worker %d: %s", i, &m.errors))
	}
	return all
}

// hire starts the worker of a place.
func (c *crew) hire(ctx context.Context, i int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hired++
	m := &member{cmd: exec.CommandContext(ctx, self, "retention", "worker", "-seed", fmt.Sprint(c.Seed), "-draws", fmt.Sprint(1000+c.hired)), ended: make(chan struct{})} //nolint:gosec // itself
	m.cmd.Env, m.cmd.Stderr = append(os.Environ(), envDSN+"="+c.dsns[c.r.IntN(len(c.dsns))]), &m.errors
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := m.cmd.Start(); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	c.all[i] = m
	go func() {
		err := m.cmd.Wait()
		c.mu.Lock()
		told := m.told
		c.mu.Unlock()
		if !told {
			c.found.Add(brokenWorker, "%v: %s", err, &m.errors)
		}
		close(m.ended)
	}()
	return nil
}

// dismiss ends the worker of a place, by SIGKILL or as a friend.
func (c *crew) dismiss(i int, kill bool) error {
	c.mu.Lock()
	m := c.all[i]
	m.told = true
	if kill {
		c.kills++
	}
	c.mu.Unlock()
	err := m.stdin.Close()
	if kill {
		err = errors.Join(err, m.cmd.Process.Kill())
	}
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	select {
	case <-m.ended:
		return err //nolint:wrapcheck // it says all
	case <-time.After(20 * time.Second):
		return errors.Join(fmt.Errorf("soak: a worker does not end: pid %d", m.cmd.Process.Pid), m.cmd.Process.Kill())
	}
}

// shoot kills one but the first, now and then, until ctx ends.
func (c *crew) shoot(ctx context.Context) error {
	for fuzz.Pause(ctx, 500*time.Millisecond+time.Duration(c.r.Int64N(int64(2*time.Second)))) {
		if len(c.all) < 2 {
			continue
		}
		i := 1 + c.r.IntN(len(c.all)-1)
		if err := c.dismiss(i, true); err != nil {
			return err
		}
		if err := c.hire(context.WithoutCancel(ctx), i); err != nil {
			return err
		}
	}
	return nil
}

// memory is what the workers' processes have resident, in bytes.
type memory struct {
	most   int64    // of any
	halves [2]int64 // of the first worker, in the first half of the load and after it
	looks  int
}

// watch reads the memory until ctx ends.
func (c *crew) watch(ctx context.Context, half time.Time) (m memory, err error) {
	for fuzz.Pause(ctx, 100*time.Millisecond) {
		c.mu.Lock()
		all := append([]*member(nil), c.all...)
		c.mu.Unlock()
		for i, one := range all {
			n, err := resident(one.cmd.Process.Pid)
			if err != nil {
				return m, err
			}
			m.looks++
			m.most = max(m.most, n)
			if i == 0 {
				part := 0
				if time.Now().After(half) {
					part = 1
				}
				m.halves[part] = max(m.halves[part], n)
			}
		}
	}
	return m, nil
}

// resident is what a process has in memory, 0 if it has ended.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, nil //nolint:nilerr // it has ended
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, nil
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("soak: %w", err)
	}
	return pages * int64(os.Getpagesize()), nil
}
