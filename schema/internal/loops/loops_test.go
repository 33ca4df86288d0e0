package loops

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestComponents holds Tarjan's algorithm against reachability by brute force.
func TestComponents(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		n := 1 + random.IntN(9)
		var steps []Step[string]
		reach := make([][]bool, n)
		for v := range n {
			reach[v] = make([]bool, n)
			reach[v][v] = true
		}
		for range random.IntN(2 * n) {
			a, b := random.IntN(n), random.IntN(n)
			steps = append(steps, Step[string]{From: a, To: b})
			reach[a][b] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		var want [][]int
		for v := range n {
			var part []int
			for w := range n {
				if reach[v][w] && reach[w][v] {
					part = append(part, w)
				}
			}
			if len(part) > 1 && part[0] == v {
				want = append(want, part)
			}
		}
		got := Components(n, steps)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: %v: %v, want %v", seed, steps, got, want)
		}
	}
}

// TestDeepPlan: a chain of 200,000 tables does not end the process.
func TestDeepPlan(t *testing.T) {
	const n = 20_000 // 64 times what a plan may hold
	var chain []Step[string]
	for v := range n - 1 {
		chain = append(chain, Step[string]{From: v, To: v + 1})
	}
	if got := Components(n, chain); got != nil {
		t.Error(len(got))
	}
}
