package brokenfuzz

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// outcome is what a caller was told.
type outcome int

const (
	done outcome = iota
	refused
	unknown
)

// Kinds of calls.
const (
	created  = "create"  // a project, by its request id
	together = "InTx"    // a ledger's row with a claim and a project
	plain    = "update"  // of an account, in a transaction with a ledger's row
	effects  = "Do"      // an effect under a key
	claimed  = "Claim"   // of a number
	deleted  = "Delete"  // of a project
	restored = "restore" // of what was deleted
)

// call is one entry.
type call struct {
	kind, token string
	outcome     outcome
	id          int64 // of a project, or the number that was claimed
	account     int64
	kids        int // of a project that was deleted
	job         int64
	grown       bool // there are more of them since it is back
	err         error
}

// book has what all callers were told.
type book struct {
	mu     sync.Mutex
	calls  []*call
	tally  map[string]*[3]int
	events map[string]int
	errors map[string]int
}

func (b *book) add(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tally == nil {
		b.tally = map[string]*[3]int{created: {}, together: {}, plain: {}, effects: {}, claimed: {}, deleted: {}, restored: {}}
	}
	b.calls = append(b.calls, c)
	b.tally[c.kind][c.outcome]++
}

// of are the calls of these kinds, in the order in which they ended.
func (b *book) of(kinds ...string) (all []*call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if slices.Contains(kinds, c.kind) {
			all = append(all, c)
		}
	}
	return all
}

// note counts what is no call.
func (b *book) note(what, event string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events == nil {
		b.events = map[string]int{}
	}
	b.events[what+" "+event]++
}

var digits = regexp.MustCompile(`[0-9]+|'[^']*'`)

// say counts an error under what is the matter.
func (b *book) say(matter string, err error) {
	text := fmt.Sprintf("%s: %.150s", matter, digits.ReplaceAllString(err.Error(), "N"))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errors == nil {
		b.errors = map[string]int{}
	}
	if len(b.errors) < 60 || b.errors[text] > 0 {
		b.errors[text]++
	}
}

// print tells the errors, the frequent ones first.
func (b *book) print() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var lines []string
	for text, n := range b.errors {
		lines = append(lines, fmt.Sprintf("%8d  %s", n, text))
	}
	slices.Sort(lines)
	for _, line := range slices.Backward(lines) {
		fmt.Println(line)
	}
}

// String counts the calls.
func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := ""
	for _, kind := range []string{created, together, plain, effects, claimed, deleted, restored} {
		if n := b.tally[kind]; n != nil {
			text += fmt.Sprintf("%s %d/%d/%d, ", kind, n[done], n[refused], n[unknown])
		}
	}
	return text + fmt.Sprint("(done/refused/unknown) ", b.events)
}
