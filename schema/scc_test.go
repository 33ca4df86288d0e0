package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestComponents holds Tarjan's algorithm against reachability by brute force.
func TestComponents(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		n := 1 + random.IntN(9)
		next := make([][]int, n)
		reach := make([][]bool, n)
		for v := range n {
			reach[v] = make([]bool, n)
			reach[v][v] = true
		}
		for range random.IntN(2 * n) {
			a, b := random.IntN(n), random.IntN(n)
			next[a] = append(next[a], b)
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
		got := components(n, func(v int) []int { return next[v] })
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: %v: %v, want %v", seed, next, got, want)
		}
	}
}

// TestDeepPlan: a chain of 200,000 tables does not end the process.
func TestDeepPlan(t *testing.T) {
	const n = 20_000 // 64 times what a plan may hold
	if got := components(n, func(v int) []int {
		if v+1 < n {
			return []int{v + 1}
		}
		return nil
	}); got != nil {
		t.Error(len(got))
	}
}

// TestLoopText names a shortest loop with its columns, whatever is beside it.
func TestLoopText(t *testing.T) {
	edge := func(to string, columns ...string) Edge {
		return Edge{Table: to, Columns: columns, OnDelete: OnDeleteDelete}
	}
	nodes := []Node{
		{Name: "a", Parents: []Edge{edge("a", "up"), edge("b", "b1", "b2"), edge("e", "e_id")}},
		{Name: "b", Parents: []Edge{edge("c", "c_id"), edge("a", "a_id")}},
		{Name: "c", Parents: []Edge{edge("a", "a_id")}},
		{Name: "d", Parents: []Edge{edge("a", "a_id")}},
		{Name: "e"},
	}
	if got := fmt.Sprint(loops(nodes)); got != "[a (b1, b2) → b (a_id) → a]" {
		t.Error(got)
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"customer", "customer_address", "film", "Straße"}
	for text, want := range map[string]string{"customers": "customer", "CUSTOMER": "customer", "flim": "film", "strase": "Straße", "warehouse": "", "": ""} {
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got := didYouMean(text, names); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestGrantPatterns: what SHOW GRANTS says, with the patterns that grants on databases are.
func TestGrantPatterns(t *testing.T) {
	for _, c := range []struct {
		on, table string
		want      bool
	}{
		{"*.*", "t", true}, {"*.*", "", true}, {"`shop_1`.*", "t", true}, {`"shop_1".*`, "t", true}, {"`shop\\_1`.*", "t", true}, {"`shop\\_2`.*", "t", false},
		{"`shop%`.*", "", true}, {"`%`.*", "", true}, {"`s_op\\_1`.*", "", true}, {"`shop`.*", "t", false}, {"`shop_1`.`t`", "t", true},
		{"`shop_1`.`t`", "", false}, {"`shop_1`.`u`", "t", false}, {"`shop%`.`t`", "t", false}, {"`shop_1`.`a``b`", "a`b", true}, {"", "", false}, {"`", "", false},
	} {
		if got := covers(c.on, "shop_1", c.table); got != c.want {
			t.Errorf("%s, %q: %v", c.on, c.table, got)
		}
	}
	var g grants
	for _, line := range []string{"GRANT USAGE ON *.* TO `u`@`%`", "GRANT SELECT, TRIGGER ON `shop_1`.`t` TO `u`@`%`", "GRANT SELECT (`a`), TRIGGER ON `shop_1`.`v` TO `u`@`%`",
		"GRANT `r`@`%` TO `u`@`%`", "GRANT PROXY ON ``@`` TO `u`@`%`", "SET DEFAULT ROLE `r` FOR `u`@`%`"} {
		g.add(line)
	}
	if !g.may("shop_1", "t", "TRIGGER") || g.may("shop_1", "u", "TRIGGER") || g.may("shop_1", "v", "TRIGGER") || g.may("shop_1", "", "TRIGGER") || !g.may("shop_1", "t", "SELECT") {
		t.Errorf("%+v", g)
	}
	g.add("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION")
	if !g.may("other", "", "TRIGGER") {
		t.Error("ALL PRIVILEGES does not count")
	}
	g.add("REVOKE TRIGGER ON `shop_1`.* FROM `u`@`%`")
	if g.may("shop_1", "t", "TRIGGER") {
		t.Error("a partial revoke does not count")
	}
	if g := Grantee(`o'b\x@host@10.%`); g != `'o''b\\x@host'@'10.%'` {
		t.Error(g)
	}
	if g := Grantee("app"); g != "'app'@'%'" {
		t.Error(g)
	}
}
