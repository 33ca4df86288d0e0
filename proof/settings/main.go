// Command settings runs the suites under settings that are not the comfortable ones:
//
//	go run -C proof ./settings                    a few tests of each package under each setting
//	go run -C proof ./settings -full -part 2/4    whole suites, without explorations; the second quarter of the settings
//	go run -C proof ./settings -full gbk latin1   the settings whose names contain one of these
//
// Each setting either works, or is refused at once by [pool.Check], with a message that names it. The
// server is found as package devdb says, and started anew for each setting. It exits with 1 if one does
// neither.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/internal/checkout"
)

// packages are those whose promises a setting could break, each with the tests of the short form: a few
// seconds that send nearly every statement once.
var packages = []struct{ name, short string }{
	{"repo", "Example|TestLife|TestRequestID|TestList|TestRestore|TestChildren|TestOneName|TestKinds"},
	{"quota", "TestJoined|TestFlags|TestLimitFails|TestRecheck|TestOwnersOfOtherKinds"},
	{"cascade", "TestForeignSchema|TestRetry|TestCancel|TestPark|TestHold|TestActions|TestActionsOfMany"},
	{"cascade/queue", "TestPurge|TestClaimsDoNotMeet"},
	{"cascade/recover", "TestRestorePartial|TestTrashTypes"},
	{"cascade/inspect", "TestOrphansOfResources|TestDryRunOfResources"},
	{"cascade/admin", "TestReadStats"},
	{"idempotency", "Example.*|TestDo|TestTwoSteps|TestExpiry|TestPurge|TestTexts"},
	{"idempotency/keyadmin", "TestOperator"},
	{"flow", "Example.*|TestLife|TestSteps|TestConditionalWrites"},
	{"ordering", "Example.*|TestOutcomes|TestByTime|TestSkipAndForget|TestParkTexts"},
	{"serial", "Example.*|TestClaim|TestBlocks|TestVoidEnds"},
	{"serial/gaps", "TestGaps|TestTable"},
}

// explorations know no settings but the isolation level, which they choose, and take long.
const explorations = "Crash|Survives|Interleave|RandomSchemas"

func main() {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // what a setting breaks is in the verdict
	full := flag.Bool("full", false, "whole suites instead of a few tests")
	part := flag.String("part", "1/1", "the i-th of n parts of the settings")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, *full, *part, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "settings:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancelled just before
	}
}

// program is where the tests of a package are built.
func program(bin, pkg string) string {
	return filepath.Join(bin, strings.ReplaceAll(pkg, "/", "-"))
}

// there says which of the names no test has: one that was renamed would be left out in silence.
func there(ctx context.Context, bin, pkg, names string) error {
	for name := range strings.SplitSeq(names, "|") {
		cmd := exec.CommandContext(ctx, program(bin, pkg), "-test.list=^("+name+")$") //nolint:gosec // made just before
		cmd.Dir = pkg
		if out, err := cmd.Output(); err != nil || len(bytes.TrimSpace(out)) == 0 {
			return errors.Join(fmt.Errorf("%s has no test %s", pkg, name), err)
		}
	}
	return nil
}

func run(ctx context.Context, full bool, part string, names []string) (err error) {
	var i, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		return fmt.Errorf("-part %s: want i/n with 1 <= i <= n", part)
	}
	if err := os.Unsetenv(devdb.EnvDSN); err != nil { // a running server would not have the settings
		return err
	}
	if err := checkout.Enter(); err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "onerow-settings-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	for _, pkg := range packages {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program(bin, pkg.name), "./"+pkg.name) //nolint:gosec // our own packages
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w\n%s", pkg.name, err, out)
		}
		if err := there(ctx, bin, pkg.name, pkg.short); err != nil {
			return err
		}
	}
	usual, err := devdb.Start(ctx, devdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, usual.Close()) }()
	ran, failed := 0, 0
	for k, s := range settings {
		if k%n != i-1 || !s.named(names) {
			continue
		}
		began := time.Now()
		verdict, err := s.try(ctx, bin, full, usual)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed++
			verdict = "FAILS: " + err.Error()
		}
		if verdict != "" {
			ran++
			fmt.Printf("%-34s %5.0fs  %s\n", s.name, time.Since(began).Seconds(), verdict)
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d settings neither work nor are refused", failed, ran)
	case ran == 0:
		return fmt.Errorf("no setting of this part has a name like %q", names)
	}
	return nil
}

func (s setting) named(names []string) bool {
	for _, name := range names {
		if strings.Contains(s.name, name) {
			return true
		}
	}
	return len(names) == 0
}

// try starts a server with the setting, or takes the usual one for what only a session has. An empty verdict:
// the engine does not have it.
func (s setting) try(ctx context.Context, bin string, full bool, server *devdb.Server) (verdict string, err error) {
	if !strings.HasPrefix(server.Engine()+" "+server.Version(), s.on) {
		return "", nil
	}
	if known, err := s.known(ctx, server); err != nil || !known {
		return "", err
	}
	if len(s.server)+len(s.global) > 0 {
		server, err = devdb.Start(ctx, devdb.Options{Args: s.server})
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
	}
	env := append(os.Environ(), devdb.EnvDSN+"="+server.DSN(""), devdb.EnvParams+"="+s.params, devdb.EnvSchema+"="+s.schema)
	if s.refused != "" {
		return s.check(ctx, server)
	}
	return s.test(ctx, bin, full, env)
}

// known says whether the server has the variable that it needs; the flag is --loose-….
func (s setting) known(ctx context.Context, server *devdb.Server) (known bool, err error) {
	if s.knows == "" {
		return true, nil
	}
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var name, value string
	switch err := db.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE '"+s.knows+"'").Scan(&name, &value); { //nolint:gosec // of the table
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// check sees that the setting is refused, and, where the server has it for all its sessions, that a pool of
// [pool.Open] is right all the same.
func (s setting) check(ctx context.Context, server *devdb.Server) (verdict string, err error) {
	cfg := server.Config("")
	cfg.Collation = "" // the setting may be another character set
	dsn := cfg.FormatDSN()
	if s.params != "" {
		dsn += "&" + s.params
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, assignment := range s.global {
		if _, err := db.ExecContext(ctx, "SET GLOBAL "+assignment); err != nil {
			return "", err
		}
	}
	if len(s.global) > 0 {
		db.SetMaxIdleConns(0) // the session that has set it does not have it
	}
	refusal := pool.Check(ctx, db)
	var setting *pool.SettingError
	if !errors.As(refusal, &setting) || setting.Setting != s.refused {
		return "", fmt.Errorf("pool.Check says %w, and should refuse %s", refusal, s.refused)
	}
	if len(s.global) > 0 {
		verdict, err = s.opened(ctx, server)
	}
	return "refused: " + refusal.Error() + verdict, err
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// test runs the suites, two at a time.
func (s setting) test(ctx context.Context, bin string, full bool, env []string) (string, error) {
	var wg sync.WaitGroup
	results := make([]error, len(packages))
	skip := s.skip
	if full && s.more != "" {
		skip = strings.TrimPrefix(skip+"|"+s.more, "|")
	}
	two := make(chan struct{}, 2)
	for i, pkg := range packages {
		wg.Go(func() {
			two <- struct{}{}
			defer func() { <-two }()
			run, skip := pkg.short, skip
			if full {
				run, skip = ".*", strings.TrimPrefix(skip+"|"+explorations, "|")
			}
			cmd := exec.CommandContext(ctx, program(bin, pkg.name), "-test.timeout=30m", "-test.run=^("+run+")$", "-test.skip="+skip) //nolint:gosec // made just before
			cmd.Dir, cmd.Env = pkg.name, env
			if out, err := cmd.CombinedOutput(); err != nil {
				results[i] = told(pkg.name, out, err)
			}
		})
	}
	wg.Wait()
	verdict := "works"
	if skip != "" {
		verdict += "; without " + skip + ": " + s.why
	}
	return verdict, errors.Join(results...)
}

// told is which tests failed, and where all of their output is.
func told(pkg string, out []byte, err error) error {
	var names []string
	for _, m := range failure.FindAllSubmatch(out, -1) {
		names = append(names, string(m[1]))
	}
	file, ferr := os.CreateTemp("", "settings-"+strings.ReplaceAll(pkg, "/", "-")+"-*.log")
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	_, werr := file.Write(bytes.TrimSpace(out))
	return errors.Join(fmt.Errorf("%s: %w: %s (see %s)", pkg, err, strings.Join(names, " "), file.Name()), werr, file.Close())
}
