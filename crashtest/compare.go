package crashtest

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"text/tabwriter"
)

// id is a generated value: the number itself says nothing, only where else it occurs.
type id struct{ domain, value string }

// node is a row as the comparison sees it, of the start of a run or of its end.
type node struct {
	table int
	start bool
	row   row
	ids   []int  // columns that hold generated values
	plain uint64 // hash of everything else
}

// identity is how ids of two runs are recognised without their values: each id gets a colour, which is
// refined with the content of all rows that it occurs in, and through them with the colours of the ids beside
// it, until no more ids can be told apart (colour refinement). Two runs are equal when the multisets of their
// rows' colours are. For rows that refer to each other as trees, as owners and children do, this decides, but
// for collisions of hashes.
type identity struct {
	tables  []*table
	nodes   []node
	colours map[id]uint64
}

// identify takes what a run began with and what it left. The start is part of the comparison because ids that
// were there before must be followed through the run: a row that should move to the archive with its id must
// not get another one, though both are "generated".
func identify(tables []*table, start, end snapshot) *identity {
	it := &identity{tables: tables, colours: map[id]uint64{}}
	for i, snap := range []snapshot{start, end} {
		for t, rows := range snap {
			for _, r := range rows {
				it.add(node{table: t, start: i == 0, row: r})
			}
		}
	}
	// Distinct colours can only grow, at most to one for each id.
	for before, now := -1, 0; now > before; {
		before, now = now, it.refine()
	}
	return it
}

// seed is of this process: hashes are compared within it.
var seed = maphash.MakeSeed()

// mix hashes a value of a comparable type into h.
func mix[T comparable](h uint64, value T) uint64 {
	return maphash.Comparable(seed, struct {
		h     uint64
		value T
	}{h, value})
}

func (it *identity) add(n node) {
	t := it.tables[n.table]
	n.plain = mix(mix(0, t.name), n.start)
	for i, c := range t.columns {
		if c.class != generated || !n.row[i].Valid {
			n.plain = mix(mix(n.plain, i), n.row[i])
			continue
		}
		n.ids = append(n.ids, i)
		it.colours[it.idOf(n, i)] = mix(0, c.domain)
	}
	it.nodes = append(it.nodes, n)
}

func (it *identity) idOf(n node, column int) id {
	return id{it.tables[n.table].columns[column].domain, n.row[column].String}
}

// signature is the row with its ids replaced by their colours.
func (it *identity) signature(n node) uint64 {
	h := n.plain
	for _, column := range n.ids {
		h = mix(mix(h, column), it.colours[it.idOf(n, column)])
	}
	return h
}

// refine gives each id a colour made of its old one and the rows it occurs in. It returns how many colours
// there are now.
func (it *identity) refine() int {
	occurs := map[id][]uint64{}
	for _, n := range it.nodes {
		signature := it.signature(n)
		for _, column := range n.ids {
			key := it.idOf(n, column)
			occurs[key] = append(occurs[key], mix(signature, column))
		}
	}
	distinct := map[uint64]bool{}
	for key, rows := range occurs {
		slices.Sort(rows)
		for _, r := range rows {
			it.colours[key] = mix(it.colours[key], r)
		}
		distinct[it.colours[key]] = true
	}
	return len(distinct)
}

// fingerprint is equal for two runs whose tables are, up to the values of generated ids. For other two runs
// it differs where rows refer to each other as trees, but for collisions of hashes.
func (it *identity) fingerprint() []uint64 {
	signatures := make([]uint64, len(it.nodes))
	for i, n := range it.nodes {
		signatures[i] = it.signature(n)
	}
	slices.Sort(signatures)
	return signatures
}

// numbers names each id for messages: 1, 2, 3 … in each domain, ids of the start first, then in the order of
// the rows' other content.
func (it *identity) numbers() map[id]int {
	order := slices.Clone(it.nodes)
	slices.SortStableFunc(order, func(a, b node) int { return slices.Compare(it.sortKey(a), it.sortKey(b)) })
	numbers, last := map[id]int{}, map[string]int{}
	for _, n := range order {
		for _, column := range n.ids {
			key := it.idOf(n, column)
			if numbers[key] == 0 {
				last[key.domain]++
				numbers[key] = last[key.domain]
			}
		}
	}
	return numbers
}

// sortKey is the row by what is the same in each run, with what was drawn behind that.
func (it *identity) sortKey(n node) []string {
	key, drawn := []string{fmt.Sprint(!n.start), fmt.Sprintf("%8d", n.table)}, []string(nil)
	for i, c := range it.tables[n.table].columns {
		if c.class == generated {
			drawn = append(drawn, fmt.Sprintf("%20s", n.row[i].String))
		} else {
			key = append(key, fmt.Sprint(n.row[i].Valid), n.row[i].String)
		}
	}
	return append(key, drawn...)
}

// maxDiffRows bounds what a message shows of one table.
const maxDiffRows = 12

// sides names the two runs of a comparison in messages: "1 row without the fault, 0 rows with it".
type sides struct{ want, got string }

var faultSides = sides{"without the fault", "with it"}

// diff shows the rows in which the end of two runs differs, ids renumbered (#1, #2 …). Empty when they are
// equal.
func diff(want, got *identity, names sides) string {
	if slices.Equal(want.fingerprint(), got.fingerprint()) {
		return ""
	}
	wantRows, gotRows := want.rendered(), got.rendered()
	var b strings.Builder
	for i, t := range want.tables {
		missing, extra := subtract(wantRows[i], gotRows[i]), subtract(gotRows[i], wantRows[i])
		if len(missing)+len(extra) > 0 {
			writeTable(&b, t, names, len(wantRows[i]), len(gotRows[i]), missing, extra)
		}
	}
	if b.Len() > 0 {
		return b.String()
	}
	// The rows agree one by one, but an id of one table goes with another row of the next. Rare, so
	// everything with ids is shown.
	b.WriteString("the rows agree, but the generated ids connect them in another way:\n")
	for i, t := range want.tables {
		if slices.ContainsFunc(t.columns, func(c column) bool { return c.class == generated }) {
			writeTable(&b, t, names, len(wantRows[i]), len(gotRows[i]), wantRows[i], gotRows[i])
		}
	}
	return b.String()
}

// rendered is the end of the run as texts, sorted, a list of rows for each table.
func (it *identity) rendered() [][][]string {
	numbers := it.numbers()
	out := make([][][]string, len(it.tables))
	for _, n := range it.nodes {
		if n.start {
			continue
		}
		fields := make([]string, len(n.row))
		for i, v := range n.row {
			fields[i] = shown(v)
		}
		for i, c := range it.tables[n.table].columns {
			if c.class == moment {
				fields[i] = map[string]string{"0": "NULL", "1": "a time"}[n.row[i].String]
			}
		}
		for _, column := range n.ids {
			fields[column] = fmt.Sprintf("#%d", numbers[it.idOf(n, column)])
		}
		out[n.table] = append(out[n.table], fields)
	}
	for _, rows := range out {
		slices.SortFunc(rows, slices.Compare[[]string])
	}
	return out
}

// subtract is a without the rows of b, each row of b taking one away.
func subtract(a, b [][]string) [][]string {
	count := map[string]int{}
	for _, r := range b {
		count[strings.Join(r, "\x00")]++
	}
	return slices.DeleteFunc(slices.Clone(a), func(r []string) bool {
		key := strings.Join(r, "\x00")
		count[key]--
		return count[key] >= 0
	})
}

func writeTable(b *strings.Builder, t *table, names sides, want, got int, missing, extra [][]string) {
	fmt.Fprintf(b, "table %s: %s %s, %s %s\n", t.name, count(want, "row"), names.want, count(got, "row"), names.got)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	line := func(sign string, fields ...string) {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", sign, strings.Join(fields, "\t")) //nolint:errcheck // a strings.Builder takes all
	}
	var head []string
	for _, c := range t.columns {
		head = append(head, c.name)
	}
	line(" ", head...)
	for i, rows := range [][][]string{missing, extra} {
		sign := "-+"[i : i+1]
		for _, r := range rows[:min(len(rows), maxDiffRows)] {
			line(sign, r...)
		}
		if more := len(rows) - maxDiffRows; more > 0 {
			line(sign, fmt.Sprintf("… and %d more", more))
		}
	}
	_ = w.Flush() //nolint:errcheck // likewise
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
