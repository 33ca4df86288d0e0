package adoptfuzz

import (
	"maps"
	"slices"
	"time"
)

// span is between which microseconds since 1970 something was written.
type span struct{ from, to int64 }

// slack is what clocks may differ by, and what a TIMESTAMP of whole seconds cuts off.
const slack = int64(1_200_000)

func within(begin, end time.Time) span {
	return span{begin.UnixMicro() - slack, end.UnixMicro() + slack}
}

func (s span) has(at int64) bool { return s.from <= at && at <= s.to }

// state is what a row may be, as its writer knows it.
type state struct {
	gone             bool
	title            string
	price            int64
	created, updated span
}

// ticket is a row with all that it may be: more than one state where an answer was lost.
type ticket struct {
	token, desk int64
	id          int64 // 0: not known
	may         []state
	notes       map[int64]bool // by their own tokens; false: its answer was lost
}

// book is what one writer has written. Nobody else uses it while its writer runs.
type book map[int64]*ticket

// write notes a statement: change is what it does to a row that is there. Unknown says that its answer was
// lost, so that the row may also be what it was.
func (t *ticket) write(change func(*state), unknown bool) {
	var after []state
	if unknown {
		after = slices.Clone(t.may)
	}
	for _, s := range t.may {
		if !s.gone {
			change(&s)
		}
		if !slices.Contains(after, s) {
			after = append(after, s)
		}
	}
	t.may = after
}

// lives says whether the row may be there.
func (t *ticket) lives() bool {
	return slices.ContainsFunc(t.may, func(s state) bool { return !s.gone })
}

// living are the tokens of rows that may be there, in order.
func (b book) living() (tokens []int64) {
	for token, t := range b {
		if t.lives() {
			tokens = append(tokens, token)
		}
	}
	slices.Sort(tokens)
	return tokens
}

// merged is one book of several.
func merged(books ...book) book {
	all := book{}
	for _, b := range books {
		maps.Copy(all, b)
	}
	return all
}
