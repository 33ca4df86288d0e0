package demo

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// envMain makes this test binary be an example that waits in a transaction.
const envMain = "DEMO_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		os.Exit(Main(flag.NewFlagSet("waiter", flag.ContinueOnError), os.Args[1:], os.Stdout, os.Stderr, func(ctx context.Context, d *Database, page *Page) error {
			var name string
			if err := d.DB.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
				return err
			}
			page.Line("%s", name)
			<-ctx.Done()
			return ctx.Err()
		}))
	}
	dbtest.Main(m)
}

// TestSignals: one line, exit code 1, and the database is gone.
func TestSignals(t *testing.T) {
	used := devdb.EnvDSN + "=" + dbtest.Server(t).DSN("")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		var errs bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), envMain+"=1", "GORACE=atexit_sleep_ms=0", used), &errs
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			t.Fatal(err, errs.String())
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Count(errs.String(), "\n") != 1 || !strings.HasPrefix(errs.String(), "waiter: stopped") {
			t.Errorf("%s: %v, %s", sig, err, &errs)
		}
		var n int
		err = dbtest.Open(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", strings.TrimSpace(line)).Scan(&n)
		if err != nil || n != 0 || !strings.HasPrefix(line, "onerow_waiter_") {
			t.Errorf("%s: %q is left, %v", sig, line, err)
		}
	}
}

// TestMainFails: an error is one line, also when it has several.
func TestMainFails(t *testing.T) {
	t.Setenv(devdb.EnvDSN, dbtest.Server(t).DSN(""))
	var out, errs bytes.Buffer
	code := Main(flag.NewFlagSet("failing", flag.ContinueOnError), []string{"-v"}, &out, &errs, func(context.Context, *Database, *Page) error {
		return errors.Join(errors.New("one"), errors.New("two"))
	})
	if code != 1 || !strings.HasSuffix(errs.String(), "\nfailing: one; two\n") || !strings.Contains(errs.String(), "onerow_failing_") {
		t.Errorf("exit %d, %s", code, &errs)
	}
	code = Main(flag.NewFlagSet("mute", flag.ContinueOnError), nil, brokenPipe{}, &errs, func(_ context.Context, _ *Database, page *Page) error {
		page.Line("never seen")
		return nil
	})
	if code != 1 {
		t.Errorf("nobody could read it, and the exit code is %d", code)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestProcess: what a process that dies has not committed is rolled back, and it sends nothing more.
func TestProcess(t *testing.T) {
	cfg, err := mysql.ParseDSN(dbtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.Create(t.Context(), []string{"CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB"}); err != nil {
		t.Fatal(err)
	}
	ctx, p, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := p.DB.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
	if err := errors.Join(err, p.Die(), p.Die()); err != nil || !p.Dead() {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("it committed after its death")
	}
	if err := p.DB.PingContext(t.Context()); err == nil {
		t.Error("it connected after its death")
	}
	if err := p.Close(); err != nil || !errors.Is(context.Cause(ctx), ErrDied) {
		t.Error(err, context.Cause(ctx))
	}
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		_, err := d.DB.ExecContext(t.Context(), "INSERT INTO t VALUES (1)") // waits for the lost transaction
		return err == nil, fmt.Sprint(err)
	})
	var n int
	if err := d.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
	_, alive, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(alive.DB.PingContext(t.Context()), alive.Close()); err != nil || alive.Dead() {
		t.Error(err)
	}
	if err := alive.DB.PingContext(t.Context()); !errors.Is(err, sql.ErrConnDone) && err == nil {
		t.Error("it works when it is closed")
	}
}

func TestPage(t *testing.T) {
	var out bytes.Buffer
	page := NewPage(&out)
	page.Table([]string{"A", ">B"}, [][]string{{"é", "1"}, {"bb", Number(-1234567)}, {Yes(true) + Yes(false), Number(123)}})
	want := "  A               B\n  é               1\n  bb     -1,234,567\n  yesNO         123\n"
	if out.String() != want || page.Err() != nil {
		t.Errorf("%q, want %q, %v", out.String(), want, page.Err())
	}
}
