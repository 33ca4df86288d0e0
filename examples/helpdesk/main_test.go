package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestCommands: the commands one after the other, and those that cannot be.
func TestCommands(t *testing.T) {
	dsn := dbtest.DSN(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-h", 0, "old-writer"},
		{"nonsense", 2, "helpdesk [serve]"},
		{"seed -rows 0", 2, "helpdesk [serve]"},
		{"seed -rows 500 -dsn " + dsn, 0, ""},
		{"seed -dsn " + dsn, 1, "has a helpdesk already"},
		{"serve -addr 127.0.0.1:0 -dsn " + dsn, 1, "schema:"}, // it is not adopted yet
		{"adopt -dsn " + dsn, 0, "now teach the old writers"},
		{"adopt -dsn " + dsn, 0, "now teach the old writers"},
		{"adopt -taught -dsn " + dsn, 0, "attachment_not_null"},
		{"adopt -taught -dsn " + dsn, 0, "0 writes"},
	} {
		var out bytes.Buffer
		args := strings.Fields(c.args)
		if strings.HasPrefix(c.args, "serve") {
			args = append(args, "-data", t.TempDir())
		}
		if code := command(args, &out, &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", c.args, code, c.code, c.says, &out)
		}
	}
}
