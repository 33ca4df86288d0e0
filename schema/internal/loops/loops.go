// Package loops finds loops in what hangs below what: the strongly connected components of a graph, and a
// shortest loop through one.
//
// Open this package when a plan with a loop is refused, or should be.
package loops

import (
	"slices"
	"strings"
)

// Step is an edge between two of the nodes, from the row below to the row above.
type Step[E any] struct {
	From, To int
	Edge     E
}

// Components returns the strongly connected components of n nodes that have more than one node (Tarjan's
// algorithm): each of their nodes is above itself by steps. Each is sorted, and they are in the order of
// their first nodes.
func Components[E any](n int, all []Step[E]) (found [][]int) {
	next := make([][]int, n)
	for _, s := range all {
		next[s.From] = append(next[s.From], s.To)
	}
	order, low, onStack := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	clock := 0
	var visit func(v int)
	visit = func(v int) {
		clock++
		order[v], low[v], onStack[v] = clock, clock, true
		stack = append(stack, v)
		for _, w := range next[v] {
			switch {
			case order[w] == 0:
				visit(w)
				low[v] = min(low[v], low[w])
			case onStack[w]:
				low[v] = min(low[v], order[w])
			}
		}
		if low[v] != order[v] {
			return
		}
		at := slices.Index(stack, v)
		part := slices.Sorted(slices.Values(stack[at:]))
		stack = stack[:at]
		for _, w := range part {
			onStack[w] = false
		}
		if len(part) > 1 {
			found = append(found, part)
		}
	}
	for v := range n {
		if order[v] == 0 {
			visit(v)
		}
	}
	slices.SortFunc(found, func(a, b []int) int { return a[0] - b[0] })
	return found
}

// Shortest returns a shortest loop through the component's first node.
func Shortest[E any](all []Step[E], part []int) []Step[E] {
	start := part[0]
	inside, came, out := map[int]bool{}, map[int]Step[E]{}, map[int][]Step[E]{}
	for _, v := range part {
		inside[v] = true
	}
	for _, s := range all {
		if inside[s.From] && inside[s.To] {
			out[s.From] = append(out[s.From], s)
		}
	}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, s := range out[queue[0]] {
			if s.To == start {
				loop := []Step[E]{s}
				for v := s.From; v != start; v = loop[0].From {
					loop = slices.Insert(loop, 0, came[v])
				}
				return loop
			}
			if _, seen := came[s.To]; !seen {
				came[s.To] = s
				queue = append(queue, s.To)
			}
		}
	}
	return nil
}

// Text names the loop: "staff (store_id) → store (manager_id) → staff".
func Text[E any](loop []Step[E], name func(node int) string, columns func(E) []string) string {
	var b strings.Builder
	for _, s := range loop {
		b.WriteString(name(s.From) + " (" + strings.Join(columns(s.Edge), ", ") + ") → ")
	}
	return b.String() + name(loop[0].From)
}
