package shell

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
)

const (
	drawEvery  = 100 * time.Millisecond // a line on a terminal is drawn anew
	plainEvery = 2 * time.Second        // a line is printed where it cannot be redrawn
	clearLine  = "\r\x1b[K"
)

// Counter shows how long work goes on, on stderr: on a terminal as one line that is drawn over itself, else
// as a line now and then. Logs go through it, so that none is written into that line. Many goroutines may use
// it.
type Counter struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	last  time.Time
	drawn bool
	err   error // why a line could not be written
}

// NewCounter makes a counter that has shown nothing yet.
func NewCounter(a *App) *Counter {
	return &Counter{out: a.Stderr, terminal: a.Terminal, last: time.Now()}
}

// Soon makes the next line be shown, however soon it is.
func (c *Counter) Soon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Time{}
}

// Say shows a line, if it is time to. The work goes on when nobody can read it.
func (c *Counter) Say(line func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	every := plainEvery
	if c.terminal {
		every = drawEvery
	}
	if c.err != nil || time.Since(c.last) < every {
		return
	}
	c.last = time.Now()
	before, after := "", "\n"
	if c.terminal {
		before, after, c.drawn = clearLine, "", true
	}
	if _, err := fmt.Fprint(c.out, before, output.Shorten(output.Printable(line()), 78), after); err != nil {
		c.err = fmt.Errorf("write the progress: %w", err)
	}
}

// Write writes lines of a log, in place of the line that is drawn.
func (c *Counter) Write(lines []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.out.Write(lines)
}

func (c *Counter) clear() {
	if c.drawn && c.err == nil {
		c.drawn = false
		if _, err := fmt.Fprint(c.out, clearLine); err != nil {
			c.err = fmt.Errorf("write the progress: %w", err)
		}
	}
}

// End removes the line from the terminal. The error, told once, is why a line could not be written.
func (c *Counter) End() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	err := c.err
	c.err = nil
	return err
}
