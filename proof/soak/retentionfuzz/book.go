package retentionfuzz

import (
	"sync"
	"time"
)

// outcome is what a user was told.
type outcome int

const (
	unknown outcome = iota
	done
	refused // it is certain that nothing was written
)

// entry is a write, noted before it is sent. Its place in the book is the version that the row gets by it.
type entry struct {
	table   int
	id      int64
	op      string // born, wrote or gone
	began   time.Time
	outcome outcome
}

// book is the journal of the users.
type book struct {
	mu       sync.Mutex
	entries  []entry
	asked    map[place]bool // rows that users have asked to delete, or may have
	restored []int64        // jobs of which a restore has answered that the row is back
	tally    map[string]int
	errors   map[string]int
}

// place is a row, whatever it holds.
type place struct {
	table int
	id    int64
}

func newBook() *book {
	return &book{asked: map[place]bool{}, tally: map[string]int{}, errors: map[string]int{}}
}

// next notes a write that is to come, and returns its version. The first is 1.
func (b *book) next(e entry) (version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, e)
	return int64(len(b.entries))
}

func (b *book) tell(version int64, o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[version-1].outcome = o
}

func (b *book) ask(p place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked[p] = true
}

func (b *book) back(job int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restored = append(b.restored, job)
}

// count counts an answer, for people.
func (b *book) count(what string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.tally[what]++
		return
	}
	text := what + ": " + err.Error()
	if len(b.errors) < 4000 {
		b.errors[text]++
	}
}

func (b *book) times(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally[what]
}
