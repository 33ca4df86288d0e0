package crashtest

import (
	"context"
	"fmt"
	"strings"
)

var raceSides = sides{"serially", "interleaved"}

// judge holds the end of a run against the right ones. It returns nil where it is one.
func (x *racer) judge(ctx context.Context, r *run) (*Failure, error) {
	f := &Failure{
		Schedule: r.schedule(), Preemptions: r.preemptions, Table: r.stepper.trace.table(len(x.race.Calls)), Answers: r.answers,
	}
	switch {
	case r.stuck != nil:
		f.Reason = r.stuck.Error()
		return f, nil
	case r.check != nil:
		f.Reason = r.check.Error()
		return f, nil
	case x.race.Judge != nil:
		if err := x.race.Judge(ctx, x.plain, r.answers); err != nil {
			f.Reason = "Judge: " + err.Error()
			return f, ctx.Err()
		}
		return nil, ctx.Err()
	}
	key := x.keyOf(r)
	var best *ending
	var fewest string
	for i, e := range x.ends {
		if e.key == key {
			return nil, nil
		}
		d := diff(e.tables, r.end, raceSides)
		if best == nil || strings.Count(d, "\n") < strings.Count(fewest, "\n") {
			best, fewest = &x.ends[i], d
		}
	}
	after := "after the copies one after the other in any order"
	if x.race.AsOnce {
		after = "after one call alone"
	}
	f.Diff = fewest
	if fewest == "" {
		f.Reason = fmt.Sprintf("the tables are right, the answers %s are not those %s; nearest: %s", answersText(r.answers), after, answersText(best.answers))
		return f, nil
	}
	f.Reason = fmt.Sprintf("the tables are not those %s; nearest: %s, answers %s", after, best.order, answersText(best.answers))
	return f, nil
}
