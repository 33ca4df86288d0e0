package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/onerow/onerow/proof/soak/load"
)

// envChild makes this program a process of clients or a worker, see load.Run.
const envChild = "ONEROW_SOAK_CHILD"

// child is a place for a process: when one is killed the next takes it.
type child struct {
	dir  string // of the journals
	role string
	cfg  load.Config // of the first; Name, Seed and Journal are new for each

	mu      sync.Mutex
	number  int
	cmd     *exec.Cmd
	in      io.WriteCloser
	ended   chan error
	last    load.Tick
	settled load.Tick // of those before
}

// start starts the next process of this place.
func (c *child) start(place string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	cfg := c.cfg
	cfg.Role, cfg.Name = c.role, fmt.Sprintf("%s.%d", place, c.number)
	cfg.Seed += uint64(c.number) << 20 //nolint:gosec // a count of processes
	cfg.Journal = filepath.Join(c.dir, cfg.Name+".journal")
	line, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	cmd := exec.Command(self) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), envChild+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("soak: start %s: %w", cfg.Name, err)
	}
	c.settled = sum(c.settled, c.last)
	c.cmd, c.in, c.ended, c.last = cmd, in, make(chan error, 1), load.Tick{}
	go c.watch(cmd, out, c.ended)
	if _, err := in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("soak: tell %s what to do: %w", cfg.Name, err)
	}
	return nil
}

// watch reads what a process says until it ends.
func (c *child) watch(cmd *exec.Cmd, out io.Reader, ended chan<- error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var t load.Tick
		if json.Unmarshal(lines.Bytes(), &t) == nil {
			c.mu.Lock()
			c.last = t
			c.mu.Unlock()
		}
	}
	ended <- errors.Join(lines.Err(), cmd.Wait())
}

// kill ends the process with SIGKILL, wherever it is in its work. An error means that it had ended by itself
// before.
func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("soak: %s had ended by itself: %w: %w", c.cfg.Name, err, <-c.ended)
	}
	err := <-c.ended
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.Exited() {
		return fmt.Errorf("soak: a %s process had ended by itself: %w", c.role, err)
	}
	return nil
}

// stopTime is how long a process may take to finish what it is doing: all attempts of a call.
const stopTime = 90 * time.Second

// stop lets the process finish what it is doing.
func (c *child) stop() error {
	err := c.in.Close()
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case ended := <-c.ended:
		err = errors.Join(err, ended)
	case <-timer.C:
		err = errors.Join(err, fmt.Errorf("it did not end within %v", stopTime), c.kill())
	}
	if err != nil {
		return fmt.Errorf("soak: a %s process: %w", c.role, err)
	}
	return nil
}

// tick is what all processes of this place have done.
func (c *child) tick() load.Tick {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sum(c.settled, c.last)
}

func sum(a, b load.Tick) load.Tick {
	return load.Tick{OK: a.OK + b.OK, Refused: a.Refused + b.Refused, Failed: a.Failed + b.Failed, Unknown: a.Unknown + b.Unknown,
		Connections: a.Connections + b.Connections}
}
