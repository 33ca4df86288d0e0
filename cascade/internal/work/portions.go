package work

import "github.com/onerow/onerow/cascade/internal/graph"

// portions is what is left to be deleted, and how much of it the next batch takes.
type portions struct {
	groups []group
	// widths is how many rows of a node a batch takes, as the run has learned it; 0: all that there are. A
	// batch deletes the leaves of all of its rows and then these, or as many leaves as fit;
	// so its rows should have about as many as fit. A statement that looks for the leaves of many
	// rows passes what was deleted below the first of them, which the server keeps for a
	// while. Looking below all rows each time would make every batch slower.
	widths map[*graph.Node]int
}

const (
	// firstWidth is for rows whose leaves are kept: a copy takes about as long to pass a deleted leaf as to
	// keep another.
	firstWidth = 4
	// growth is how many times as many rows as the last batch the next one takes at most.
	growth = 4
)

// next is what the next batch takes, and what it leaves: all groups, or some rows of the first.
func (p portions) next() (now, rest []group) {
	if len(p.groups) == 0 {
		return nil, nil
	}
	first, left := p.groups[0], p.groups[0]
	n := p.widths[first.src.Node]
	if n == 0 || n >= len(first.rows) {
		return p.groups, nil
	}
	first.rows, left.rows = first.rows[:n], left.rows[n:]
	return []group{first}, append([]group{left}, p.groups[1:]...)
}

// took takes a batch of next into account, and says whether it has to be cleared: that a
// single row, or the root, has more leaves than fit.
func (p *portions) took(now, rest []group, out outcome, limit int) (clear bool) {
	if out.full && (out.next > 0 || len(now) == 0) {
		p.groups = now[out.next:] // what fitted after other groups says nothing
		return len(now) == 0
	}
	node, n := now[0].src.Node, len(now[0].rows)
	if out.full {
		p.widths[node] = max(1, n/2)
		return n == 1
	}
	fit := 3 * int64(limit) * int64(n) / (4 * max(out.leaves, 1))
	p.widths[node] = int(min(max(1, fit), growth*int64(n)))
	p.groups = rest
	return false
}
