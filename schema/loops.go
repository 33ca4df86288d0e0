package schema

import "github.com/onerow/onerow/schema/internal/loops"

// loopsOf names one loop of each component: "staff (store_id) → store (manager_id) → staff".
func loopsOf(nodes []Node) []string {
	all := steps(nodes)
	var texts []string
	for _, part := range loops.Tangles(len(nodes), all) {
		texts = append(texts, loops.Text(loops.Shortest(all, part), func(i int) string { return nodes[i].Name }, func(e Edge) []string { return e.Columns }))
	}
	return texts
}

// steps are the edges by which rows are deleted, those from a node to itself left out.
func steps(nodes []Node) []loops.Step[Edge] {
	at := map[string]int{}
	for i, n := range nodes {
		at[n.Name] = i
	}
	var all []loops.Step[Edge]
	for i, n := range nodes {
		for _, e := range n.Parents {
			if to, known := at[e.Table]; known && e.OnDelete == OnDeleteDelete && to != i {
				all = append(all, loops.Step[Edge]{From: i, To: to, Edge: e})
			}
		}
	}
	return all
}
