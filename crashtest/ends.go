package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// serial runs the copies one after the other, in every order, and the first order twice. AsOnce: one call
// alone, twice.
func (x *racer) serial(ctx context.Context) (statements []int, err error) {
	orders := permutations(x.all())
	orders = append([]string{orders[0]}, orders...)
	for i, order := range orders {
		r, err := x.play(ctx, "", order, false)
		if err != nil {
			return nil, fmt.Errorf("the copies one after the other (%s): %w", order, err)
		}
		if err := errors.Join(r.stuck, r.check); err != nil {
			return nil, fmt.Errorf("the copies one after the other (%s): %w\n%s", order, err, r.stepper.trace.table(len(x.race.Calls)))
		}
		if i == 0 {
			for _, p := range r.stepper.procs {
				statements = append(statements, p.steps)
			}
		}
		e := ending{order: order, key: x.keyOf(r), tables: r.end, answers: r.answers}
		if i == 1 && e.key != x.ends[0].key && x.race.Judge == nil {
			return nil, fmt.Errorf("two serial executions in the same order differ: columns with generated values belong into Refs or Generated, "+
				"times and random values into Ignore\nanswers: %s, then %s\n%s", answersText(x.ends[0].answers), answersText(e.answers),
				diff(x.ends[0].tables, e.tables, sides{"first", "second"}))
		}
		x.ends = append(x.ends, e)
	}
	x.ends = x.ends[1:]
	if err := x.works(statements); err != nil {
		return nil, err
	}
	x.spin = 2*slices.Max(statements) + 10 // from now on: serially nobody gives way
	if !x.race.AsOnce {
		return statements, nil
	}
	r, err := x.play(ctx, "", "A", false)
	if err == nil {
		err = errors.Join(r.stuck, r.check)
	}
	if err != nil {
		return nil, fmt.Errorf("one call alone: %w", err)
	}
	for len(r.answers) < len(x.race.Calls) {
		r.answers = append(r.answers, r.answers[0])
	}
	x.ends = []ending{{order: "one call alone", key: x.keyOf(r), tables: r.end, answers: r.answers}}
	return statements, nil
}

// works refuses a race in which nothing is done: its ends would all be the same, and right. An error of the
// workflow's own may be its right answer, and so may a constraint's refusal; another error of the server to
// every copy, in every order, is none.
func (x *racer) works(statements []int) error {
	if slices.Max(statements) == 0 {
		return errors.New("the copies sent no statement")
	}
	for _, e := range x.ends {
		for _, answer := range e.answers {
			if n := mysqlerr.Number(answer); n == 0 || slices.Contains(refusals, n) {
				return nil
			}
		}
	}
	return fmt.Errorf("every copy fails in every serial execution: %w", x.ends[0].answers[0])
}

// refusals are the numbers of a constraint's decision: a duplicate key, a foreign key, a CHECK (MySQL,
// MariaDB), a SIGNAL.
var refusals = []uint16{1062, 1451, 1452, 3819, 4025, 1644}

func (x *racer) differentEnds() int {
	keys := map[string]bool{}
	for _, e := range x.ends {
		keys[e.key] = true
	}
	return len(keys)
}

// keyOf is equal for two runs whose tables, as fingerprint sees them, and answers, as answersText does, are.
func (x *racer) keyOf(r *run) string {
	return fmt.Sprint(r.end.fingerprint()) + answersText(r.answers)
}

// answersText names the answers without what differs between runs: numbers are left out, and of a server's
// error all but its number.
func answersText(answers []error) string {
	texts := make([]string, len(answers))
	for i, err := range answers {
		switch n := mysqlerr.Number(err); {
		case err == nil:
			texts[i] = "nil"
		case n != 0:
			texts[i] = fmt.Sprintf("error %d", n)
		default:
			texts[i] = fmt.Sprintf("%q", strings.Map(func(c rune) rune {
				if c >= '0' && c <= '9' {
					return -1
				}
				return c
			}, err.Error()))
		}
	}
	return strings.Join(texts, ", ")
}

func permutations(letters string) []string {
	if len(letters) < 2 {
		return []string{letters}
	}
	var all []string
	for i := range letters {
		for _, rest := range permutations(letters[:i] + letters[i+1:]) {
			all = append(all, letters[i:i+1]+rest)
		}
	}
	return all
}

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
