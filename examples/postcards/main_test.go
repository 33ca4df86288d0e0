package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial"
)

var update = flag.Bool("update", false, "write testdata/printed.txt anew")

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(t *testing.T, opts ...dbtest.Option) *demo.Database {
	t.Helper()
	cfg, err := mysql.ParseDSN(dbtest.DSN(t, opts...))
	if err != nil {
		t.Fatal(err)
	}
	d, err := demo.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestPrinted holds the whole page to testdata, on every engine and level, and the tables to what was bought.
func TestPrinted(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			d := open(t, dbtest.Isolation(level))
			var out bytes.Buffer
			if err := play(t.Context(), d, demo.NewPage(&out)); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if *update {
				if err := os.WriteFile("testdata/printed.txt", out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/printed.txt")
			if err != nil || out.String() != string(want) {
				t.Errorf("%v, printed\n%s\nwant (-update writes it)\n%s", err, &out, want)
			}
			// Each number from 1 to 58 is in one purchase, and each event has one with its amount.
			events, _ := crowded()
			taken := map[int64]string{}
			for _, e := range append(events, event{"A", 3}, event{"B", 2}, event{"C", 1}, event{"D", 2}) {
				var from, to int64
				query := "SELECT p.from_no, p.to_no FROM purchase p JOIN onerow_serial_claim c ON c.claim_key = p.transaction_id AND c.from_no = p.from_no AND c.to_no = p.to_no WHERE p.transaction_id = ?"
				if err := onerow.QueryRow(t.Context(), d.DB, query, []any{e.transaction}, &from, &to); err != nil || to-from+1 != e.amount {
					t.Errorf("%s bought %d and has %d to %d, %v", e.transaction, e.amount, from, to, err)
				}
				for n := from; n <= to; n++ {
					if taken[n] != "" || n < 1 || n > 58 {
						t.Errorf("number %d is of %s and of %q", n, e.transaction, taken[n])
					}
					taken[n] = e.transaction
				}
			}
			if len(taken) != 58 {
				t.Errorf("%d numbers are taken", len(taken))
			}
		})
	}
}

// TestVerdict: a claim that is missing in the claims, or gaps that are missing in the plain table, fail the
// run.
func TestVerdict(t *testing.T) {
	for damage, says := range map[string]string{
		"DELETE FROM onerow_serial_claim WHERE claim_key = 'B'":            "do not have the numbers",
		"DELETE FROM purchase WHERE transaction_id = 'B'":                  "do not have the numbers",
		"UPDATE purchase SET to_no = to_no + 1 WHERE transaction_id = 'B'": "do not have the numbers",
	} {
		d := open(t)
		if err := play(t.Context(), d, demo.NewPage(&bytes.Buffer{})); err != nil {
			t.Fatal(err)
		}
		if _, err := d.DB.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		series, err := serial.New("postcards")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (claims{d, series}).report(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", damage, err)
		}
	}
	d := open(t)
	if err := d.Create(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	gap := []serial.Finding{{Kind: serial.Missing, From: 1, To: 2}}
	if err := verdict(t.Context(), d, demo.NewPage(&bytes.Buffer{}), claims{d: d}, plain{d}, gap, gap); err == nil {
		t.Error("claims with a gap are good")
	}
}

// TestRun is the whole program: exit codes, and nothing is left on the server.
func TestRun(t *testing.T) {
	t.Setenv(devdb.EnvDSN, dbtest.Server(t).DSN(""))
	for _, c := range []struct {
		args         []string
		code         int
		stdout, says string
	}{
		{nil, 0, "without gaps", ""}, {[]string{"-h"}, 0, "", "-v"},
		{[]string{"-seed", "x"}, 2, "", "-seed"}, {[]string{"more"}, 2, "", `"more"`},
	} {
		var out, errs bytes.Buffer
		if code := run(c.args, &out, &errs); code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, &out, &errs)
		}
	}
	var n int
	err := dbtest.Open(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE ?", fmt.Sprintf("onerow_postcards_%d_%%", os.Getpid())).Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("%d databases are left, %v", n, err)
	}
}

// stopper is a page that stops the run when a line begins.
type stopper struct {
	begin string
	stop  context.CancelFunc
}

func (s stopper) Write(text []byte) (int, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte(s.begin)) {
		s.stop()
	}
	return len(text), nil
}

// TestStopped: a signal ends the run wherever it is, with the context's error.
func TestStopped(t *testing.T) {
	for _, begin := range []string{"1.", "A buys", "2.", "3.", "4."} {
		d := open(t)
		ctx, stop := context.WithCancel(t.Context())
		if err := play(ctx, d, demo.NewPage(stopper{begin, stop})); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at %s: %v", begin, err)
		}
		stop()
	}
}
