package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/onerow/onerow/internal/devdb"
)

type options struct {
	dir, schema string
	rows, each  int
	seed        uint64
	part, parts int
	verbose     bool
}

func main() {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // progress is a line of its own here
	var o options
	part := ""
	flag.StringVar(&o.schema, "schema", "", "names of schemas, with commas (default all: "+strings.Join(names(), ",")+")")
	flag.IntVar(&o.rows, "rows", 25, "rows in each table, where its keys allow so many")
	flag.IntVar(&o.each, "roots", 1, "rows of each table that are deleted and brought back; 0: only discover is on trial")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the rows and the roots")
	flag.StringVar(&part, "part", "1/1", "the i-th of n parts of the roots")
	flag.BoolVar(&o.verbose, "v", false, "list the references that discover misses, and what it proposes that is none")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := o.check(part, flag.Args())
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "publicschemas:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancelled just before
	}
}

func (o *options) check(part string, args []string) error {
	if _, err := fmt.Sscanf(part, "%d/%d", &o.part, &o.parts); err != nil || o.part < 1 || o.part > o.parts {
		return fmt.Errorf("-part %s: want i/n with 1 <= i <= n", part)
	}
	if len(args) != 1 || o.rows < 1 || o.each < 0 {
		return errors.New("want one argument, the folder that scripts/get-schemas prints; -rows is 1 or more")
	}
	o.dir = args[0]
	for _, name := range o.wanted() {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("-schema %s: there is none; want %q", name, names())
		}
	}
	return nil
}

func (o *options) wanted() []string {
	if o.schema == "" {
		return names()
	}
	return strings.Split(o.schema, ",")
}

func run(ctx context.Context, o options) (err error) {
	server, err := devdb.Start(ctx, devdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Printf("%s %s; rows %d, seed %d, part %d/%d\n", server.Engine(), server.Version(), o.rows, o.seed, o.part, o.parts)
	var results []result
	var errs []error
	for _, about := range schemas {
		if !slices.Contains(o.wanted(), about.name) {
			continue
		}
		r, err := try(ctx, server, o, about)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", about.name, err))
		}
		results = append(results, r)
	}
	report(results)
	return errors.Join(errs...)
}

// report prints both tables, as docs/results/public-schemas.md has them.
func report(results []result) {
	fmt.Println("\n| schema | tables | foreign keys | rows | roots deleted | rows deleted | rows detached | differences after deletion | after restoring | seconds |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range results {
		if r.deletes {
			fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %.0f |\n", r.name, r.tables, r.keys, r.rows,
				r.sum.roots, r.sum.deleted, r.sum.detached, r.sum.afterDeletion, r.sum.afterRestoring, r.took.Seconds())
		}
	}
	fmt.Println("\n| schema | references | recall, by name | precision, by name | recall, with rows | precision, with rows |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range results {
		fmt.Printf("| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", r.name, r.byName.declared,
			r.byName.recall(), r.byName.precision(), r.byNameAndRow.recall(), r.byNameAndRow.precision())
	}
}

// list says what was missed, and what was proposed that is no reference.
func (q quality) list(of string) {
	for _, ref := range q.missed {
		fmt.Printf("%s: missed: %s\n", of, ref)
	}
	for _, ref := range q.wrong {
		fmt.Printf("%s: wrong: %s\n", of, ref)
	}
}
