package kitchen

import (
	"bytes"
	"context"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// Programs runs solution.py and solution.ts of the recipe's folder, each on tables of its own: one process,
// which is killed when the first rows are in the table watched; then two at once. All get the same arguments.
// The two must print the same lines, one for each argument that is no option of theirs, and the query must
// give want.
func Programs(t *testing.T, s Side, watched string, arguments []string, lines int, query, want string) {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	compiled := filepath.Join("..", ".js", filepath.Base(folder), "solution.js")
	if _, err := os.Stat(compiled); err != nil {
		t.Fatalf("%v; scripts/get-languages compiles it, make test-cookbook calls that", err)
	}
	for name, command := range map[string][]string{"Python": {"/usr/bin/python3", "solution.py"}, "TypeScript": {"node", compiled}} {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.DSN(t)
			db := dbtest.OpenDSN(t, dsn)
			exec(t, db, append(Statements(t, s.Tables), s.Setup...)...)
			start := func(ctx context.Context) (*process, error) { return started(ctx, dsn, append(command, arguments...)) }
			killed, err := start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM "+watched)
				return n > 0, "the program has written nothing"
			})
			if err := killed.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			end := killed.cmd.Wait()
			before := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM "+watched)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var two [2]*process
			for i := range two {
				if two[i], err = start(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range two {
				if err := p.cmd.Wait(); err != nil {
					t.Fatalf("%v: %s", err, p.stderr.String())
				}
			}
			said := two[0].stdout.String()
			if other := two[1].stdout.String(); said != other || strings.Count(said, "\n") != lines {
				t.Errorf("the two say\n%s\nand\n%s", said, other)
			}
			if got := dbtest.Scan[string](t, db, query); got != want {
				t.Errorf("%s gives %s, want %s", query, got, want)
			}
			t.Logf("%d rows when the first ended (%v), then %d lines of two at once", before, end, lines)
		})
	}
}

type process struct {
	cmd            *osexec.Cmd
	stdout, stderr bytes.Buffer
}

// started starts a program, which knows its database from the environment.
func started(ctx context.Context, dsn string, command []string) (*process, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: osexec.CommandContext(ctx, command[0], command[1:]...)} //nolint:gosec // of the recipe's folder
	p.cmd.Env = append(os.Environ(), "MYSQL_HOST="+host, "MYSQL_PORT="+port, "MYSQL_USER="+cfg.User, "MYSQL_PASSWORD="+cfg.Passwd, "MYSQL_DATABASE="+cfg.DBName)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p, p.cmd.Start()
}
