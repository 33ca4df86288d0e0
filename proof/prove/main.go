package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
)

// version is set by the linker, as scripts/release does.
var version = "(built from source)"

// The exit codes.
const (
	exitHolds = 0
	exitFalls = 1
	exitNoRun = 2
)

// options are what the command line says, and what only tests say.
type options struct {
	dsn, node, replica string
	only, drop         string
	short, json, keep  bool
	list, grants       bool
	version            bool

	// spoil are statements that are run when the tables are there, to break them. Tests plant with them what
	// no setting of a server does.
	spoil []string
	// all, if set, is how long the checks may take: a machine with other work says nothing about a server.
	all time.Duration
	// made, if set, is told the database's name when it is there.
	made func(name string)
}

const usage = `onerow-prove tells which promises of onerow hold on your own server.

  onerow-prove -dsn 'user:password@tcp(db.example:3306)/'

It is a program of each release; in a clone of onerow it is
go run -C proof ./prove.

It makes a database of its own, works only in it and drops it at the end. It
loads the server a little, for a minute with -short, else for up to ten.

  -dsn DSN      the server, in the form of go-sql-driver/mysql; without it
                ONEROW_DSN, which no process list shows. Its parameters are
                those of your application: they are part of what is tried
  -node DSN     another node of the same cluster that takes writes
  -replica DSN  a replica that your application reads from
  -short        a minute at most
  -only NAMES   only the checks whose names contain one of these, with commas
  -json         the result for machines, on standard output
  -keep         leave the database for a look
  -list         print the checks and their promises, and try nothing
  -grants       print the GRANT statements that it needs, and try nothing
  -drop NAME    drop the database that a run has left, if it has the mark
  -version      the version of onerow, and nothing else

Exit code 0: all that was tried holds. 1: some promise does not. 2: it could not
run, or a check could not be tried.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is main, with what a test wants to see.
func command(ctx context.Context, args []string, out, progress io.Writer) int {
	o, err := parse(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitHolds
	case err == nil:
		var code int
		if code, err = run(ctx, o, out, progress); err == nil {
			return code
		}
	}
	say(progress, "prove: %s\n", err)
	return exitNoRun
}

// say prints for people. Who cannot read it has the exit code.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...) //nolint:errcheck // as it says
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("prove", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.dsn, "dsn", os.Getenv(devdb.EnvDSN), "")
	set.StringVar(&o.node, "node", "", "")
	set.StringVar(&o.replica, "replica", "", "")
	set.StringVar(&o.only, "only", "", "")
	set.StringVar(&o.drop, "drop", "", "")
	set.BoolVar(&o.short, "short", false, "")
	set.BoolVar(&o.json, "json", false, "")
	set.BoolVar(&o.keep, "keep", false, "")
	set.BoolVar(&o.list, "list", false, "")
	set.BoolVar(&o.grants, "grants", false, "")
	set.BoolVar(&o.version, "version", false, "")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		say(out, "%s", usage)
		return o, err
	case err != nil && strings.HasPrefix(err.Error(), "flag provided but not defined"):
		return o, fmt.Errorf("%w; -h tells what there is", err)
	case err != nil: // it may repeat a value, and so a password
		return o, errors.New("a flag has no value, or a wrong one; -h tells what there is")
	case set.NArg() > 0:
		return o, errors.New("there is a word that belongs to no flag; -h tells what there is")
	}
	return o, nil
}

// run does what the options say. An error is one sentence: it could not run.
func run(ctx context.Context, o options, out, progress io.Writer) (code int, err error) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) //nolint:errcheck // it is one; connections are cut on purpose
	if o.version {
		say(out, "onerow-prove %s\n", version)
		return exitHolds, nil
	}
	chosen := choose(checks(), o.only)
	if len(chosen) == 0 {
		return exitNoRun, fmt.Errorf("no check has a name like %q; -list prints them", o.only)
	}
	if o.list {
		list(out, chosen)
		return exitHolds, nil
	}
	if o.grants && o.dsn == "" {
		say(out, "%s", grants(""))
		return exitHolds, nil
	}
	servers, err := configure(o)
	if err != nil {
		return exitNoRun, err
	}
	if o.grants {
		say(out, "%s", grants(servers.dsn.User))
		return exitHolds, nil
	}
	if o.drop != "" {
		return dropLeft(ctx, servers, o.drop, out)
	}
	say(progress, "%s", needs)
	began := time.Now()
	s, err := open(ctx, o, servers, progress)
	if err != nil {
		return exitNoRun, err
	}
	results, err := s.judge(ctx, chosen, progress)
	gone := s.close(progress)
	if err != nil {
		return exitNoRun, errors.Join(err, gone)
	}
	rep := report{Server: s.about, Took: time.Since(began).Round(time.Second).String(), Results: results, Facts: s.facts}
	if s.keep {
		rep.Database = s.name
	}
	code, err = rep.print(out, o.json)
	return code, errors.Join(err, gone) // what was found is printed, whatever is left behind
}

// servers are the places to try, parsed.
type servers struct{ dsn, node, replica *mysql.Config }

// configure reads the DSNs. What the driver says of a wrong one may repeat a part of it, and so of a
// password.
func configure(o options) (s servers, err error) {
	if o.dsn == "" {
		return s, fmt.Errorf("say which server, by -dsn 'user:password@tcp(host:3306)/' or in %s; -h tells more", devdb.EnvDSN)
	}
	for _, d := range []struct {
		flag, dsn string
		into      **mysql.Config
	}{{"-dsn", o.dsn, &s.dsn}, {"-node", o.node, &s.node}, {"-replica", o.replica, &s.replica}} {
		if d.dsn == "" {
			continue
		}
		cfg, err := mysql.ParseDSN(d.dsn)
		if err != nil {
			return s, fmt.Errorf("%s is not a data source name like user:password@tcp(host:3306)/", d.flag)
		}
		*d.into = cfg
	}
	return s, nil
}

// choose are the checks that are wanted.
func choose(all []check, only string) []check {
	return slices.DeleteFunc(all, func(c check) bool {
		return only != "" && !slices.ContainsFunc(strings.Split(only, ","), func(name string) bool {
			return name != "" && strings.Contains(c.name, name)
		})
	})
}
