package crashtest

import (
	"fmt"
	"slices"
)

// A world is what a run began with and what it left. The start is part of the comparison because ids that
// were there before must be followed through the run: a row that should move to the archive with its id must
// not get another one, though both are "generated".
type world struct {
	tables     []*table
	start, end snapshot
}

// id is a generated value: the number itself says nothing, only where else it occurs.
type id struct{ domain, value string }

// node is a row of a world as the comparison sees it.
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

func identify(w world) *identity {
	it := &identity{tables: w.tables, colours: map[id]uint64{}}
	for _, phase := range []struct {
		snap  snapshot
		start bool
	}{{w.start, true}, {w.end, false}} {
		for i, rows := range phase.snap {
			for _, r := range rows {
				it.add(i, phase.start, r)
			}
		}
	}
	// Distinct colours can only grow, at most to one for each id.
	for distinct := 0; ; {
		refined := it.refine()
		if refined <= distinct {
			return it
		}
		distinct = refined
	}
}

func (it *identity) add(tableIndex int, start bool, r row) {
	t := it.tables[tableIndex]
	n := node{table: tableIndex, start: start, row: r}
	h := hash{}
	h.text(t.name)
	if start {
		h.text("start")
	}
	for i, c := range t.columns {
		if c.class == generated && !r[i].null {
			n.ids = append(n.ids, i)
			key := it.idOf(n, i)
			if _, ok := it.colours[key]; !ok {
				domain := hash{}
				domain.text(c.domain)
				it.colours[key] = domain.sum()
			}
			continue
		}
		h.cell(i, r[i])
	}
	n.plain = h.sum()
	it.nodes = append(it.nodes, n)
}

func (it *identity) idOf(n node, column int) id {
	return id{it.tables[n.table].columns[column].domain, n.row[column].text}
}

// signature is the row with its ids replaced by their colours.
func (it *identity) signature(n node) uint64 {
	h := hash{}
	h.number(n.plain)
	for _, column := range n.ids {
		h.index(column)
		h.number(it.colours[it.idOf(n, column)])
	}
	return h.sum()
}

// refine gives each id a colour made of its old one and the rows it occurs in. It returns how many colours
// there are now.
func (it *identity) refine() int {
	occurs := map[id][]uint64{}
	for _, n := range it.nodes {
		signature := it.signature(n)
		for _, column := range n.ids {
			h := hash{}
			h.number(signature)
			h.index(column)
			key := it.idOf(n, column)
			occurs[key] = append(occurs[key], h.sum())
		}
	}
	distinct := map[uint64]bool{}
	for key, rows := range occurs {
		slices.Sort(rows)
		h := hash{}
		h.number(it.colours[key])
		for _, r := range rows {
			h.number(r)
		}
		it.colours[key] = h.sum()
		distinct[h.sum()] = true
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
			drawn = append(drawn, fmt.Sprintf("%20s", n.row[i].text))
		} else {
			key = append(key, fmt.Sprint(!n.row[i].null), n.row[i].text)
		}
	}
	return append(key, drawn...)
}
