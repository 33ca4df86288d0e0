package command

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed" // help
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/onerow/onerow/cascade/command/internal/age"
	"github.com/onerow/onerow/cascade/command/internal/daemon"
	"github.com/onerow/onerow/cascade/command/internal/deletion"
	"github.com/onerow/onerow/cascade/command/internal/lost"
	"github.com/onerow/onerow/cascade/command/internal/operate"
	"github.com/onerow/onerow/cascade/command/internal/records"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// commandLine is what kong parses.
type commandLine struct {
	DSN     string      `name:"dsn" placeholder:"DSN" help:"Database: user:password@tcp(host:3306)/name. Better in the environment, where ps does not show it ($$ONEROW_DSN)."`
	Version versionFlag `name:"version" help:"Print the version and exit."`

	Run      daemon.Run       `cmd:"" help:"Work the queue until SIGTERM: the daemon."`
	Drain    daemon.Drain     `cmd:"" help:"Work until no job is due, with progress, and exit."`
	Enqueue  deletion.Enqueue `cmd:"" help:"Delete a row and everything below it: queue the job."`
	Undo     deletion.Undo    `cmd:"" help:"Take back a deletion that is in its grace period."`
	Cancel   deletion.Cancel  `cmd:"" help:"End a deletion that has begun: the row and the rest stay."`
	Restore  deletion.Restore `cmd:"" help:"Bring back what a job has deleted and kept."`
	Trash    deletion.Trash   `cmd:"" help:"List what can be brought back, or remove it for good."`
	Retain   age.Retention    `cmd:"" name:"retention" help:"Show which rows the plan's retention finds, or queue them now."`
	DryRun   deletion.Plan    `cmd:"" name:"plan" help:"Count what would be deleted below a row: a dry run."`
	Orphans  lost.Orphans     `cmd:"" help:"Find rows whose row above is gone, and queue what is below."`
	Jobs     operate.Jobs     `cmd:"" help:"List jobs, open and finished, newest first."`
	Report   operate.Report   `cmd:"" help:"Say what became of a deletion: by whom, when, why, what went and what is left."`
	Retry    operate.Retry    `cmd:"" help:"Make a job that is dead or has leftovers ready again."`
	Parked   operate.Parked   `cmd:"" help:"List rows that could not be deleted, retry or skip them."`
	Pause    operate.Pause    `cmd:"" help:"Make all workers wait, or leave one job or one resource."`
	Resume   operate.Resume   `cmd:"" help:"Let the workers go on."`
	First    operate.First    `cmd:"" help:"Have a job worked before all others that are due."`
	Set      operate.Set      `cmd:"" help:"Change load, target and parallel of workers while they run."`
	Workers  operate.Workers  `cmd:"" help:"List the workers, and why they wait."`
	Discover tables.Discover  `cmd:"" help:"Read the foreign keys of a database and print a plan."`
	Adopt    tables.Adopt     `cmd:"" help:"Make a resource of a table that has rows: print migrations, fill in keys."`
	Verify   tables.Verify    `cmd:"" help:"Compare the database with the plan and name each difference."`
	Doctor   tables.Doctor    `cmd:"" help:"Look for all that is wrong, and print what to do about it."`
	DDL      tables.DDL       `cmd:"" name:"ddl" help:"Print the CREATE TABLE statements of the plan's tables."`
	Migrate  tables.Migrate   `cmd:"" help:"Create, remove or list the toolkit's own tables (onerow_*)."`
	Purge    age.Purge        `cmd:"" help:"Remove what the toolkit's own tables keep for a while only: old jobs, audits, request ids, keys."`
	Keys     records.Keys     `cmd:"" help:"Look at idempotency keys, release, complete or expire them."`
	Serials  records.Serials  `cmd:"" help:"List series of numbers, find their gaps and overlaps."`
}

// help is what each command says of itself with --help, in sections that begin with its name.
//
//go:embed help.txt
var help string

// describe gives the commands what they say of themselves.
func describe(k *kong.Kong) error {
	texts := map[string]string{}
	for section := range strings.SplitSeq("\n"+help, "\n=== ") {
		name, text, _ := strings.Cut(section, "\n")
		texts[name] = strings.TrimSpace(text)
	}
	k.Model.Help = texts[k.Model.Name]
	return kong.Visit(k.Model.Node, func(at kong.Visitable, next kong.Next) error {
		if node, ok := at.(*kong.Node); ok && node.Type == kong.CommandNode {
			node.Detail = texts[node.FullPath()]
		}
		return next(nil)
	})
}

// printed is what a flag like --help panics with inside kong, which would exit.
type printed struct{ code int }

func dispatch(ctx context.Context, s shell.Environment) error {
	var g commandLine
	a := &shell.App{Environment: s}
	parser, err := kong.New(&g,
		kong.Name(output.ProgramName),
		kong.PostBuild(describe),
		kong.Writers(s.Stdout, s.Stderr),
		kong.Exit(func(code int) { panic(printed{code}) }),
		kong.ConfigureHelp(kong.HelpOptions{NoAppDescFormat: true, Compact: true, WrapUpperBound: 100}),
		kong.Bind(s, a),
		// A command's Run gets these by their types. They are made when it runs.
		kong.BindSingletonProvider(func() (context.Context, error) { return a.Acting(ctx), nil }),
		kong.BindSingletonProvider(a.Plan),
		kong.BindSingletonProvider(func() (*sql.DB, error) { return a.OpenMigrated(ctx) }),
		kong.BindSingletonProvider(func() (db shell.BareDB, err error) {
			db.DB, err = a.Open(ctx)
			return db, err
		}),
	)
	if err != nil {
		return err
	}
	command, err := parse(parser, s.Args)
	switch {
	case err != nil:
		return err
	case command == nil:
		return nil // --help or --version
	}
	a.DSN = cmp.Or(g.DSN, s.Getenv(shell.EnvDSN))
	return errors.Join(command.Run(), a.Close())
}

// parse returns nil, nil when a flag has printed what was asked for.
func parse(parser *kong.Kong, args []string) (command *kong.Context, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case printed:
			command, err = nil, nil
		default:
			err = usage.Errorf("the command line cannot be understood: %v", p)
		}
	}()
	command, err = parser.Parse(args)
	var wrong *kong.ParseError
	var refused *usage.Error
	switch {
	case errors.As(err, &refused): // by a command's Validate
		return nil, refused
	case !errors.As(err, &wrong):
		return command, err
	}
	if negative.MatchString(err.Error()) {
		return nil, usage.Errorf("a number below 0 looks like a flag; an id goes behind --, as in %s enqueue account -- -1", output.ProgramName)
	}
	return nil, usage.Errorf("%s (see %s --help)", missing(err.Error()), helpFor(wrong.Context))
}

// negative is what kong says of an id below 0.
var negative = regexp.MustCompile(`^unknown flag -[0-9]`)

// missing makes kong's `expected one of "a", "b"` say of what.
func missing(message string) string {
	if _, list, found := strings.Cut(message, "expected one of "); found {
		return "a command is missing: one of " + strings.ReplaceAll(list, `"`, "")
	}
	if list, found := strings.CutPrefix(message, "expected "); found {
		return "missing: " + strings.Trim(list, `"`)
	}
	if flag, _, found := strings.Cut(message, ": expected "); found && strings.Contains(message, "<EOL>") {
		return flag + " needs a value"
	}
	return message
}

// helpFor names the command, as far as it was understood.
func helpFor(c *kong.Context) string {
	if c != nil && c.Selected() != nil {
		return c.Selected().FullPath()
	}
	return output.ProgramName
}

type versionFlag bool

// BeforeReset prints the version before anything else is looked at, so that
// --version needs no command.
func (versionFlag) BeforeReset(k *kong.Kong, s shell.Environment) error {
	if _, err := fmt.Fprintln(k.Stdout, s.VersionLine()); err != nil {
		return err
	}
	k.Exit(shell.ExitOK)
	return nil
}
