package command

import (
	"fmt"
	"io"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
)

// drawEvery is how often a line on a terminal is drawn anew.
const drawEvery = 100 * time.Millisecond

// plainEvery is how often progress gets a line where it cannot be redrawn.
const plainEvery = 2 * time.Second

// counter shows how long work goes on, on stderr: on a terminal as one line that is
// drawn over itself, else as a line now and then.
type counter struct {
	out      io.Writer
	terminal bool
	last     time.Time
	drawn    bool
	err      error // why a line could not be written
}

func newCounter(a *app) *counter {
	return &counter{out: a.stderr, terminal: a.terminal, last: time.Now()}
}

// say shows a line, if it is time to. The work goes on when nobody can read it.
func (c *counter) say(line func() string) {
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
		before, after, c.drawn = "\r\x1b[K", "", true
	}
	if _, err := fmt.Fprint(c.out, before, output.Shorten(output.Printable(line()), 78), after); err != nil {
		c.err = fmt.Errorf("write the progress: %w", err)
	}
}

// end removes the line from the terminal.
func (c *counter) end() error {
	if c.drawn && c.err == nil {
		c.drawn = false
		if _, err := fmt.Fprint(c.out, "\r\x1b[K"); err != nil {
			c.err = fmt.Errorf("write the progress: %w", err)
		}
	}
	return c.err
}
