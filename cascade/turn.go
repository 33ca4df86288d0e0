package cascade

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
)

// turn is how long a job has been worked since it was claimed.
type turn struct {
	begun   time.Time
	reached time.Duration // how long it took to its first batch that changed rows; 0 before that
	others  bool          // that the worker has claimed with it
}

// giveWay ends the turn of a job that has had its time if other jobs are due, see Config.Turn. What was
// walked on the way down to the rows is walked again in the next turn: so a turn takes at least as long
// again, and at least one batch is behind it, lest jobs only take each other's place. One statement at the
// end of a turn, none where the worker itself keeps others waiting, or has a slot too many. That it fails
// is no reason to stop.
func (l *lease) giveWay(ctx context.Context, changed bool) error {
	t := &l.turn
	took := time.Since(t.begun)
	if changed && t.reached == 0 {
		t.reached = took
	}
	if l.surplus() {
		return fmt.Errorf("%w: an operator wants fewer jobs at once", fault.ErrTurn)
	}
	if t.reached == 0 || took < max(l.cfg.Turn, 2*t.reached) {
		return nil
	}
	due := fmt.Errorf("%w: other jobs are due", fault.ErrTurn)
	if t.others {
		return due
	}
	waiting, err := l.due(ctx, 2)
	for _, id := range waiting.Due {
		if err == nil && id != l.job.ID { // its own lease may have ended, if it is a short one
			return due
		}
	}
	t.begun, t.reached = time.Now(), 0
	return nil
}
