package work

import "testing"

// TestPatience: how a job goes on after passes that have not ended it.
func TestPatience(t *testing.T) {
	var (
		moved    = passed{changed: true}
		nothing  = passed{}
		parked   = passed{parked: true}
		parks    = passed{parked: true, changed: true}
		loop     = passed{looped: true, cuttable: true}
		cut      = passed{looped: true, cuttable: true, changed: true}
		fast     = passed{looped: true}
		beside   = passed{looped: true, cuttable: true, parked: true}
		besides  = passed{looped: true, cuttable: true, parked: true, changed: true}
		fastened = passed{looped: true, parked: true}
	)
	for name, c := range map[string]struct {
		passes []passed
		want   []decision
		cuts   []bool
		over   bool
	}{
		"what moves is followed as long as rows go": {
			[]passed{moved, nothing, nothing, nothing, nothing, moved, nothing, nothing, nothing, nothing, nothing},
			[]decision{tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain, tryAgain}, nil, true},
		"parked rows stay once nothing has changed twice": {
			[]passed{parks, parked, parks, parked, parked},
			[]decision{tryAgain, tryAgain, tryAgain, tryAgain, leaveParked}, nil, false},
		"an operator unparks a row while the job would leave it": {
			[]passed{parked, parked, nothing, nothing, nothing},
			[]decision{tryAgain, leaveParked, tryAgain, tryAgain, tryAgain}, nil, true},
		"a loop is cut by the next pass": {
			[]passed{cut, cut, moved},
			[]decision{tryAgain, tryAgain, tryAgain}, []bool{true, true, true}, false},
		"a loop above a parked row only after a pass without a change": {
			[]passed{besides, beside, beside},
			[]decision{tryAgain, tryAgain, leaveParked}, []bool{false, true, true}, false},
		"not before the loop was cut are parked rows left": {
			[]passed{parked, beside, beside},
			[]decision{tryAgain, tryAgain, leaveParked}, []bool{false, true, true}, false},
		"a loop that cannot be cut is blamed after the third pass": {
			[]passed{fast, fast, fast},
			[]decision{tryAgain, tryAgain, blameLoop}, []bool{true, true, true}, false},
		"a loop that cannot be cut, beside parked rows, is no reason to fail": {
			[]passed{fastened, fastened},
			[]decision{tryAgain, leaveParked}, []bool{true, true}, false},
		"a loop that could be cut and stays": {
			[]passed{loop, loop, loop, loop, loop},
			[]decision{tryAgain, tryAgain, tryAgain, tryAgain, tryAgain}, []bool{true, true, true, true, true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var p patience
			for i, pass := range c.passes {
				if got := p.after(pass); got != c.want[i] {
					t.Errorf("pass %d: %d, want %d", i+1, got, c.want[i])
				}
				if c.cuts != nil && p.cutsLoops != c.cuts[i] {
					t.Errorf("pass %d: loops are cut from now on: %t", i+1, p.cutsLoops)
				}
				if over := c.over && i == len(c.passes)-1; p.isOver() != over {
					t.Errorf("pass %d: it is over: %t", i+1, !over)
				}
			}
		})
	}
}
