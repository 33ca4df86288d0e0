package racetest

import "testing"

func TestExactly(t *testing.T) {
	var a Answers
	ask := func(want ...string) error { return a.Exactly(want...)(t.Context(), nil) }
	for _, step := range []struct {
		answer string
		want   []string
		ok     bool
	}{
		{"", []string{"applied"}, false},
		{"applied", []string{"applied", "stale"}, true}, // one call alone
		{"", nil, false},
		{"", []string{"stale", "applied"}, false},
		{"stale", []string{"applied", "stale"}, true},
		{"", []string{"stale", "applied"}, true}, // in any order
		{"stale", []string{"applied", "stale"}, false},
	} {
		if step.answer != "" {
			a.Add(step.answer)
		}
		if err := ask(step.want...); (err == nil) != step.ok {
			t.Errorf("%q, want %q: %v", a.List(), step.want, err)
		}
	}
	a.Clear()
	if err := ask(); err != nil {
		t.Error(err)
	}
}
