package shell

import (
	"fmt"
	"io"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
)

// drawEvery is how often a line on a terminal is drawn anew.
const drawEvery = 100 * time.Millisecond

// PlainEvery is how often progress gets a line where it cannot be redrawn.
const PlainEvery = 2 * time.Second

// Counter shows how long work goes on, on stderr: on a terminal as one line that is
// drawn over itself, else as a line now and then.
type Counter struct {
	out      io.Writer
	terminal bool
	last     time.Time
	drawn    bool
	err      error // why a line could not be written
}

// NewCounter makes a counter that has shown nothing yet.
func NewCounter(a *App) *Counter {
	return &Counter{out: a.Stderr, terminal: a.Terminal, last: time.Now()}
}

// Say shows a line, if it is time to. The work goes on when nobody can read it.
func (c *Counter) Say(line func() string) {
	every := PlainEvery
	if c.terminal {
		every = drawEvery
	}
	if c.err != nil || time.Since(c.last) < every {
		return
	}
	c.last = time.Now()
	before, after := "", "\n"
	if c.terminal {
		before, after, c.drawn = "\r\x1b[K", "", true
	}
	if _, err := fmt.Fprint(c.out, before, output.Shorten(output.Printable(line()), 78), after); err != nil {
		c.err = fmt.Errorf("write the progress: %w", err)
	}
}

// End removes the line from the terminal.
func (c *Counter) End() error {
	if c.drawn && c.err == nil {
		c.drawn = false
		if _, err := fmt.Fprint(c.out, "\r\x1b[K"); err != nil {
			c.err = fmt.Errorf("write the progress: %w", err)
		}
	}
	return c.err
}
