package schema

import (
	"fmt"
	"testing"
)

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
	if got := fmt.Sprint(loopsOf(nodes)); got != "[a (b1, b2) → b (a_id) → a]" {
		t.Error(got)
	}
}
