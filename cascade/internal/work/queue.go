package work

import "context"

// flush deletes what is pending.
func (p *pass) flush(ctx context.Context) error {
	_, err := p.drop(ctx, load{groups: p.unqueue()})
	return err
}

func (p *pass) unqueue() []group {
	groups := p.queue
	p.queue, p.waiting = nil, 0
	return groups
}

// noteStayed forgets the rows of groups that were tried, but for those that stayed: the pass does not try
// them again. Rows that were detached are not forgotten: the walk may be below them, over another edge.
func (p *pass) noteStayed(groups []group, stayed []rowRef) {
	p.held = p.held || len(stayed) > 0
	for _, g := range groups {
		if g.src.Node.MetTwice() && !g.src.Edge.Detach {
			for _, v := range g.rows {
				delete(p.seen, rowRef{g.src.Node, v.Key})
			}
		}
	}
	for _, v := range stayed {
		if len(p.seen) < maxOnPath+maxKept && v.node.MetTwice() {
			p.seen[v] = kept
		}
	}
}
