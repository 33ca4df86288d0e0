package work

// patience decides after each pass that has not ended the job how to go on.
type patience struct {
	fruitless int  // passes in a row that have changed nothing
	cutsLoops bool // the next pass cuts the loops that it meets
}

const (
	// fruitlessPasses is how many passes in a row may change nothing although something is left, because it
	// moves or changes, before the job counts as failed.
	fruitlessPasses = 5
	// settledPasses is how many it takes to believe that nothing is left but what is parked, or what is in a
	// loop that cannot be cut: others, who delete here too, had their time by then.
	settledPasses = 2
)

// passed is what a pass has met that has not ended the job.
type passed struct {
	changed  bool // it has deleted, detached, cut or parked a row
	looped   bool // it met a loop, and rows stayed because something was below them
	cuttable bool // a reference of that loop may become NULL
	parked   bool // rows of the job are parked
}

// decision is how to go on after a pass.
type decision int

const (
	tryAgain decision = iota
	leaveParked
	blameLoop
)

// after takes a pass into account. If the pass met a loop and rows stayed, the next one cuts loops, unless
// what stayed may be above a parked row: then only if this one has changed nothing.
func (p *patience) after(pass passed) decision {
	p.fruitless++
	if pass.changed {
		p.fruitless = 0
	}
	uncut := pass.looped && !p.cutsLoops
	decision := tryAgain
	switch {
	case pass.changed:
	case pass.looped && p.cutsLoops && !pass.cuttable && p.fruitless > settledPasses:
		decision = blameLoop
	case pass.parked && !uncut && p.fruitless >= settledPasses:
		decision = leaveParked
	}
	p.cutsLoops = p.cutsLoops || uncut && (!pass.parked || p.fruitless > 0)
	return decision
}

// isOver says whether no further pass is tried.
func (p *patience) isOver() bool { return p.fruitless >= fruitlessPasses }
