package schema

import (
	"fmt"
	"slices"
	"strings"
)

// components returns the strongly connected components of a graph of n vertices that
// have more than one vertex (Tarjan's algorithm, without recursion: a plan is input).
// Each is sorted, and they are in the order of their first vertices.
func components(n int, next func(v int) []int) [][]int {
	const unseen = 0
	order, low, onStack := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var found [][]int
	type frame struct{ v, child int }
	clock := unseen
	enter := func(v int) frame {
		clock++
		order[v], low[v], onStack[v] = clock, clock, true
		stack = append(stack, v)
		return frame{v: v}
	}
	for root := range n {
		if order[root] != unseen {
			continue
		}
		for path := []frame{enter(root)}; len(path) > 0; {
			top := &path[len(path)-1]
			if out := next(top.v); top.child < len(out) {
				w := out[top.child]
				top.child++
				switch {
				case order[w] == unseen:
					path = append(path, enter(w))
				case onStack[w]:
					low[top.v] = min(low[top.v], order[w])
				}
				continue
			}
			v := top.v
			if path = path[:len(path)-1]; len(path) > 0 {
				above := path[len(path)-1].v
				low[above] = min(low[above], low[v])
			}
			if low[v] != order[v] {
				continue
			}
			at := slices.Index(stack, v)
			part := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, w := range part {
				onStack[w] = false
			}
			if len(part) > 1 {
				slices.Sort(part)
				found = append(found, part)
			}
		}
	}
	slices.SortFunc(found, func(a, b []int) int { return a[0] - b[0] })
	return found
}

// step is an edge between two nodes, from the row below to the row above.
type step struct {
	from, to int
	edge     Edge
}

// steps are the edges by which rows are deleted, those from a node to itself left out.
func steps(nodes []Node) []step {
	at := map[string]int{}
	for i, n := range nodes {
		at[n.Name] = i
	}
	var all []step
	for i, n := range nodes {
		for _, e := range n.Parents {
			if to, known := at[e.Table]; known && e.OnDelete == OnDeleteDelete && to != i {
				all = append(all, step{i, to, e})
			}
		}
	}
	return all
}

// tangles are the components of nodes that are above themselves by steps.
func tangles(nodes []Node, all []step) [][]int {
	next := make([][]int, len(nodes))
	for _, s := range all {
		next[s.from] = append(next[s.from], s.to)
	}
	return components(len(nodes), func(v int) []int { return next[v] })
}

// loops names one loop of each component: "staff (store_id) → store (manager_id) → staff".
func loops(nodes []Node) []string {
	all := steps(nodes)
	var texts []string
	for _, part := range tangles(nodes, all) {
		texts = append(texts, loopText(nodes, shortestLoop(all, part)))
	}
	return texts
}

// shortestLoop is a shortest loop through the component's first node.
func shortestLoop(all []step, part []int) []step {
	start := part[0]
	inside, came, out := map[int]bool{}, map[int]step{}, map[int][]step{}
	for _, v := range part {
		inside[v] = true
	}
	for _, s := range all {
		if inside[s.from] && inside[s.to] {
			out[s.from] = append(out[s.from], s)
		}
	}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, s := range out[queue[0]] {
			if s.to == start {
				loop := []step{s}
				for v := s.from; v != start; v = loop[0].from {
					loop = slices.Insert(loop, 0, came[v])
				}
				return loop
			}
			if _, seen := came[s.to]; !seen {
				came[s.to] = s
				queue = append(queue, s.to)
			}
		}
	}
	return nil
}

func loopText(nodes []Node, loop []step) string {
	var b strings.Builder
	for _, s := range loop {
		fmt.Fprintf(&b, "%s (%s) → ", nodes[s.from].Name, strings.Join(s.edge.Columns, ", "))
	}
	return b.String() + nodes[loop[0].from].Name
}
