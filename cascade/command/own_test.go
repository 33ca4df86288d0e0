package command

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
)

// noAssets is a place without assets.
type noAssets struct{ cascade.Assets }

func openNone(context.Context, string) (cascade.Assets, func() error, error) {
	return noAssets{}, func() error { return nil }, nil
}

// TestOwnPlan: a program's own plan needs no file, and none goes before it; one that contradicts itself is
// refused.
func TestOwnPlan(t *testing.T) {
	good := schema.Plan{Resources: []schema.Resource{{Name: "shelf"}}}
	bad := schema.Plan{Resources: []schema.Resource{{Name: "shelf", Parent: schema.Parent{Resource: "room", Column: "room_id"}}}}
	assets := schema.Plan{Tables: []schema.Table{{Name: "photo", Key: []string{"id"}, Asset: "object"}}}
	for _, c := range []struct {
		args string
		plan *schema.Plan
		code int
		says string
		open func(context.Context, string) (cascade.Assets, func() error, error)
	}{
		{"ddl", &good, 0, "CREATE TABLE `shelf`", nil},
		{"ddl --plan plan.yaml", &good, 2, "its plan is built in", nil},
		{"ddl", &bad, 1, `"room"`, nil},
		{"ddl", nil, 2, "no plan was given", nil},
		{"drain", &assets, 2, "--assets", nil},
		{"drain", &assets, 2, "--assets", openNone},
		{"drain --assets shelf:", &assets, 2, "no database was given", openNone},
		{"drain --assets file:///tmp", &assets, 2, "without places for assets", nil},
	} {
		var out, problem strings.Builder
		code := execute(context.Background(), shell.Environment{OwnPlan: c.plan, OpenAssets: c.open, Args: strings.Fields(c.args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problem,
			Getenv: func(string) string { return "" }})
		if code != c.code || !strings.Contains(out.String()+problem.String(), c.says) {
			t.Errorf("%s: exit code %d, want %d with %q: %s%s", c.args, code, c.code, c.says, out.String(), problem.String())
		}
	}
	var out strings.Builder
	code := execute(context.Background(), shell.Environment{Version: "shop 1.4", Args: []string{"--version"}, Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	if code != 0 || !strings.HasPrefix(out.String(), output.ProgramName+" shop 1.4 (") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}
