package fuzz

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxListed is how many findings of a kind are listed.
const maxListed = 4

// Findings collect what is broken. They are safe for concurrent use.
type Findings struct {
	seed uint64
	out  io.Writer // of what is printed at once; nil: nothing is

	mu     sync.Mutex
	counts map[string]int
	listed []string
}

// NewFindings begins a list of which each entry names the seed.
func NewFindings(seed uint64) *Findings { return &Findings{seed: seed, counts: map[string]int{}} }

// Add lists a broken promise, and prints it at once: the run may never come to its report.
func (f *Findings) Add(kind, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[kind]++
	switch n := f.counts[kind]; {
	case n <= maxListed:
		text := fmt.Sprintf("BROKEN (seed %d) %s: %s", f.seed, kind, fmt.Sprintf(format, args...))
		f.listed = append(f.listed, text)
		f.say(text)
	case n == maxListed+1:
		f.say(fmt.Sprintf("BROKEN (seed %d) %s: and more", f.seed, kind))
	}
}

func (f *Findings) say(line string) {
	if f.out != nil {
		fmt.Fprintln(f.out, line) //nolint:errcheck // the report says it again
	}
}

// Any says whether something is broken.
func (f *Findings) Any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.counts) > 0
}

// Count is how often a kind was found.
func (f *Findings) Count(kind string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[kind]
}

// Report counts the kinds, a line each.
func (f *Findings) Report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := make([]string, 0, len(f.counts))
	for kind := range f.counts {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	var text strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&text, "BROKEN %6d  %s\n", f.counts[kind], kind)
	}
	return text.String()
}
