package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
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

// TestPrinted holds the whole page to testdata, on every engine and level, and the tables to sums
// that are made here.
func TestPrinted(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			d := open(t, dbtest.Isolation(level))
			var out bytes.Buffer
			if err := play(t.Context(), d, demo.NewPage(&out), 1); err != nil {
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
			meters := map[int64]int64{}
			for _, p := range day(rand.New(rand.NewPCG(1, 0))) {
				meters[p.Run] += p.Meters
			}
			for run, want := range meters {
				var got, reject int64
				query := `SELECT (SELECT meters FROM run_total WHERE consumer = 'hold' AND run_id = ?), (SELECT meters FROM run_total WHERE consumer = 'reject' AND run_id = ?)`
				if err := onerow.QueryRow(t.Context(), d.DB, query, []any{run, run}, &got, &reject); err != nil || got != want || reject > want {
					t.Errorf("run %d has %d m by hold, %d by reject, and was %d m, %v", run, got, reject, want, err)
				}
			}
		})
	}
}

// TestSeeds: other days, other deliveries, other deaths.
func TestSeeds(t *testing.T) {
	for seed := uint64(2); seed < 8; seed++ {
		d := open(t)
		var out bytes.Buffer
		if err := play(t.Context(), d, demo.NewPage(&out), seed); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, &out)
		}
	}
}

// TestDiffers: the comparison sees one metre in one row.
func TestDiffers(t *testing.T) {
	d := open(t)
	if err := play(t.Context(), d, demo.NewPage(&bytes.Buffer{}), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := d.DB.ExecContext(t.Context(), "UPDATE message SET run_meters = run_meters + 1 WHERE consumer = 'hold' AND user_id = 2 AND sequence_id = 7"); err != nil {
		t.Fatal(err)
	}
	hold, err := newConsumer(t.Context(), d, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := hold.close(); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	err = compare(t.Context(), d, demo.NewPage(&out), hold, 1, 1)
	if !errors.Is(err, errDiffer) || !strings.Contains(out.String(), "NO") {
		t.Errorf("%v\n%s", err, &out)
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
		{nil, 0, "yes", ""}, {[]string{"-seed", "9"}, 0, "yes", ""}, {[]string{"-h"}, 0, "", "-seed"},
		{[]string{"-seed", "x"}, 2, "", "-seed"}, {[]string{"more"}, 2, "", `"more"`},
	} {
		var out, errs bytes.Buffer
		if code := run(c.args, &out, &errs); code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, &out, &errs)
		}
	}
	var n int
	err := dbtest.Open(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE ?", fmt.Sprintf("onerow_runners_%d_%%", os.Getpid())).Scan(&n)
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
	for _, begin := range []string{"1.", "2.", "3.", "4."} {
		d := open(t)
		ctx, stop := context.WithCancel(t.Context())
		if err := play(ctx, d, demo.NewPage(stopper{begin, stop}), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at %s: %v", begin, err)
		}
		stop()
	}
}
