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
// as a line now and then. Logs go through it, so that none is written into that line, and what the App prints
// takes the line away. Many goroutines may use it.
type Counter struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	last  time.Time
	drawn bool
	err   error // why a line could not be written
}

// NewCounter makes the command's counter, which has shown nothing yet. The App's Close tells why a line could
// not be written.
func NewCounter(a *App) *Counter {
	a.counter = &Counter{out: a.Stderr, terminal: a.Terminal, last: time.Now()}
	a.close = append(a.close, a.counter.end)
	return a.counter
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
	if time.Since(c.last) < every {
		return
	}
	c.last = time.Now()
	c.write(output.Shorten(output.Printable(line()), 78))
}

// Write writes lines of a log, in place of the line that is drawn.
func (c *Counter) Write(lines []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write("")
	return c.out.Write(lines)
}

// write draws a line over what is drawn, or takes that away.
func (c *Counter) write(line string) {
	before, after := "", "\n"
	if c.terminal {
		before, after = clearLine, ""
	}
	if c.err != nil || line == "" && !c.drawn {
		return
	}
	c.drawn = c.terminal && line != ""
	if _, err := fmt.Fprint(c.out, before, line, after); err != nil {
		c.err = fmt.Errorf("write the progress: %w", err)
	}
}

// end takes the line away. The error is why one could not be written.
func (c *Counter) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write("")
	return c.err
}
