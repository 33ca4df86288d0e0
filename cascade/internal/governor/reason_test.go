package governor

import (
	"slices"
	"testing"
)

func TestKindOf(t *testing.T) {
	for reason, want := range map[string]string{"": "", "paused": "paused", "paused: x: y": "paused", "database: away": "database", "threads: 7": "threads", "lag: x": "lag", "query: x": "query",
		"load: x": "load", "throttle: x": "throttle", "anything else": "throttle", "threadsx: 1": "throttle"} {
		if got := KindOf(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}

// FuzzKindOf: the label of a metric is one of a few, whatever the reason says.
func FuzzKindOf(f *testing.F) {
	for _, seed := range []string{"", "paused", "paused: x", "threads: 7", ":", "Paused", "lag :", "\xff", "a{b=\"c\"}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reason string) {
		kind := KindOf(reason)
		if kind == "" != (reason == "") || kind != "" && !slices.Contains(Kinds(), kind) {
			t.Fatalf("%q is %q", reason, kind)
		}
	})
}
