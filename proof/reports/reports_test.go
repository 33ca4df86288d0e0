package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestList: twenty reports, each of a place of its own, with two sentences.
func TestList(t *testing.T) {
	if len(reports) != 20 {
		t.Errorf("%d reports", len(reports))
	}
	seen := map[string]bool{}
	for _, r := range reports {
		if seen[r.name] || seen[r.source] || !strings.HasPrefix(r.source, "https://") || strings.Count(r.met, ". ") != 1 || r.run == nil {
			t.Errorf("%+v", r)
		}
		seen[r.name], seen[r.source] = true, true
	}
	var out strings.Builder
	if err := run(t.Context(), &out, "", "zones,replies", true); err != nil || strings.Count(out.String(), "\n") != 4 || !strings.Contains(out.String(), "delayed_job") {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := run(t.Context(), &out, "", "nothing", true); err == nil {
		t.Error("no report, and no error")
	}
}

// TestLine: a report that falls says why, and so does one that panics.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "holds, but x; 2 rows"},
		{errors.New("2 rows, and not 1"), "FALLS: 2 rows, and not 1; 2 rows"},
	} {
		if got := (report{but: "x"}).verdict("2 rows", c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	err := guarded(t.Context(), &scene{}, report{run: func(context.Context, *scene) error { panic("lost") }})
	if err == nil || !strings.Contains(err.Error(), "lost") {
		t.Error(err)
	}
	if first(nil, unless(true, ""), unless(false, "this"), unless(false, "that")).Error() != "this" {
		t.Error("not the first")
	}
}
