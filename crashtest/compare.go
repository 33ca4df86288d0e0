package crashtest

import (
	"fmt"
	"hash/maphash"
	"slices"
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
