package adoptfuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema/planfile"
)

// goose is the table in which the files that have run are remembered.
const goose = "goose_db_version"

// answer is how a command ended.
type answer struct {
	code     int
	out, err string
	killed   bool // by us
}

// build makes the command that the round's operator runs.
func build(ctx context.Context, dir string) (program string, err error) {
	program = filepath.Join(dir, "cascade-worker")
	out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/cascade-worker").CombinedOutput() //nolint:gosec // our own
	if err != nil {
		return "", fmt.Errorf("soak: go build: %w: %s", err, out)
	}
	return program, nil
}

// writePlans makes a file of each version of the plan.
func (r *round) writePlans() error {
	r.files = filepath.Join(r.dir, "files")
	err := os.Mkdir(r.files, 0o700)
	for v := range version(versions) {
		text, ferr := planfile.Format(r.shape.plan(v))
		if ferr == nil {
			ferr = os.WriteFile(r.planFile(v), text, 0o600)
		}
		err = errors.Join(err, ferr)
	}
	return err
}

func (r *round) planFile(v version) string { return filepath.Join(r.dir, v.String()+".yaml") }

// patience is how long a command may take, and deadline how long what is repeated until it is done.
const (
	patience = 60 * time.Second
	deadline = 60 * time.Second
)

// command runs cascade-worker with one version of the plan. After kill, if that is not 0, it gets SIGKILL.
func (r *round) command(ctx context.Context, v version, kill time.Duration, args ...string) answer {
	limit := patience
	if kill > 0 {
		limit = kill
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, r.program, args...) //nolint:gosec // our own
	cmd.Env = append(os.Environ(), "ONEROW_DSN="+r.dsn, "ONEROW_PLAN="+r.planFile(v))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	a := answer{code: cmd.ProcessState.ExitCode(), out: out.String(), err: stderr.String(), killed: err != nil && limited.Err() != nil}
	if a.killed && kill > 0 {
		r.counts.kills.Add(1)
		return a
	}
	r.look(v, a, args)
	return a
}

// forbidden are errors of the server that a statement of the toolkit's must not meet, whatever others do:
// keys that are taken, syntax, values that do not fit.
var (
	forbidden   = map[string]bool{"1048": true, "1062": true, "1064": true, "1264": true, "1292": true, "1366": true, "1406": true}
	errorNumber = regexp.MustCompile(`Error (\d+)`)
	digits      = regexp.MustCompile(`\d+`)
)

// look judges how a command ended by itself.
func (r *round) look(v version, a answer, args []string) {
	line := strings.Join(args, " ")
	lines := strings.Split(strings.TrimSpace(a.out+"\n"+a.err), "\n")
	last := lines[len(lines)-1]
	switch number := errorNumber.FindStringSubmatch(a.err); {
	case a.killed:
		r.found.Add(brokenCommand, "%s: no end after %v: %s", line, patience, last)
	case alreadyThere.MatchString(a.err):
	case a.code != 0 && a.code != 1, strings.Contains(a.err, "goroutine "):
		r.found.Add(brokenCommand, "%s: exit code %d: %s", line, a.code, a.err)
	case number != nil && forbidden[number[1]]:
		r.found.Add(brokenCommand, "%s, plan %v: %s", line, v, a.err)
	case a.code == 0 && strings.Contains(line, "--backfill") && !strings.Contains(a.out, "each row has all that it needs"):
		r.found.Add(brokenCommand, "%s: exit code 0: %s", line, a.out)
	}
	if len(args) > 2 {
		r.tally(fmt.Sprintf("%s %v: exit %d: %.150s", args[2], v, a.code, digits.ReplaceAllString(last, "N")))
	}
}

// backfill fills in keys, for a share of the time.
func (r *round) backfill(ctx context.Context, v version, copies bool, load string, kill time.Duration) answer {
	args := []string{"adopt", "ticket", "--backfill", "--load", load}
	if copies {
		r.renaming.Store(true)
		args = append(args, "--copies")
	}
	r.counts.backfills.Add(1)
	return r.command(ctx, v, kill, args...)
}

// ran is the number of the last file that has run.
func (r *round) ran(ctx context.Context) (last int64, err error) {
	var there bool
	err = r.admin.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", r.database, goose).Scan(&there)
	if err == nil && there {
		err = r.admin.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+r.table(goose)).Scan(&last)
	}
	return last, err //nolint:wrapcheck // it says all
}

// alreadyThere is what adopt says of a file that has run, where others have undone what it did.
var alreadyThere = regexp.MustCompile(`--out has (\S+) already`)

var beforeThis = regexp.MustCompile(`(?m)^(\d+)_\S+\.sql  \(before this one`)

// migrate has the files written that are due, and runs them: all of them, or those before the backfill. Files
// that a run before did not come to are thrown away first, for others may have changed the table. An error is
// one of the server's, as a rule, and it may be called again.
func (r *round) migrate(ctx context.Context, all bool) error {
	r.operating.Lock()
	defer r.operating.Unlock()
	last, err := r.ran(ctx)
	if err != nil {
		return err
	}
	list, err := os.ReadDir(r.files)
	for _, f := range list {
		number, _, _ := strings.Cut(f.Name(), "_")
		if n, nerr := strconv.ParseInt(number, 10, 64); nerr != nil || n > last {
			err = errors.Join(err, os.Remove(filepath.Join(r.files, f.Name())))
		}
	}
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	write := func() answer {
		return r.command(ctx, r.final, 0, "adopt", "ticket", "--out", r.files, "--number", strconv.FormatInt(last+1, 10))
	}
	a := write()
	for file := alreadyThere.FindStringSubmatch(a.err); file != nil && err == nil; file = alreadyThere.FindStringSubmatch(a.err) {
		err = os.Remove(filepath.Join(r.files, file[1])) // it has run, and somebody has undone its work
		a = write()
	}
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if a.code != 0 {
		return fmt.Errorf("adopt: exit code %d: %s%s", a.code, a.out, a.err)
	}
	up := int64(-1) // the last file that is to run
	if found := beforeThis.FindStringSubmatch(a.out); found != nil && !all {
		if up, err = strconv.ParseInt(found[1], 10, 64); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		up--
	}
	return r.up(ctx, last, up)
}

// up runs the files.
func (r *round) up(ctx context.Context, last, to int64) error {
	if list, err := os.ReadDir(r.files); err != nil || len(list) == 0 || to >= 0 && to <= last {
		return err //nolint:wrapcheck // it says all
	}
	p, err := migrations.New(r.operators, os.DirFS(r.files), goose)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if to >= 0 {
		_, err = p.UpTo(ctx, to)
	} else {
		_, err = p.Up(ctx)
	}
	if err != nil {
		r.tally(fmt.Sprintf("goose: %.150s", digits.ReplaceAllString(err.Error(), "N")))
	}
	return err //nolint:wrapcheck // it says all
}

// disturbed is how long sessions are killed while an operator comes to an end of something.
const disturbed = 6 * time.Second

// despite repeats what fails, while sessions are killed at first, then without.
func (r *round) despite(ctx context.Context, what string, do func() error) bool {
	for begin := time.Now(); time.Since(begin) < disturbed; fuzz.Pause(ctx, 100*time.Millisecond) {
		if do() == nil {
			return true
		}
	}
	again := r.killer.Rest()
	defer again()
	return r.until(ctx, what, do)
}

// asTold is what an operator does where the archive was made while the table had another type.
var asTold = regexp.MustCompile("make the two the same: ALTER TABLE `(\\w+)` (.*)")

// until repeats what fails, and finds that it does not come to an end.
func (r *round) until(ctx context.Context, what string, do func() error) bool {
	var err error
	for begin := time.Now(); time.Since(begin) < deadline; {
		if err = do(); err == nil {
			return true
		}
		if told := asTold.FindStringSubmatch(err.Error()); told != nil {
			query := "ALTER TABLE " + r.table(told[1]) + " " + told[2] //nolint:gosec // as the command printed it; the own session is in a database beside
			r.tally("as told: " + told[2])
			if _, err := r.admin.ExecContext(ctx, query); err != nil {
				r.tally("as told: " + short(err))
			}
		}
		fuzz.Pause(ctx, 100*time.Millisecond)
	}
	r.found.Add(brokenEnd, "%s: not within %v: %v", what, deadline, err)
	return false
}
