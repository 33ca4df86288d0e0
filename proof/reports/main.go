package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/proof/internal/checkout"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// longest is how long a report may take.
const longest = 90 * time.Second

func main() {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // what goes wrong is in the report's line
	only := flag.String("only", "", "names, with commas: the reports whose names contain one of them")
	list := flag.Bool("list", false, "print what the reports are, and run nothing")
	var engine string
	fuzz.EngineFlag(flag.CommandLine, &engine)
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Stdout, engine, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "reports:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancelled just before
	}
}

func run(ctx context.Context, out io.Writer, engine, only string, list bool) (err error) {
	if flag.NArg() > 0 {
		return fmt.Errorf("there is no %q: flags only", flag.Arg(0))
	}
	if err := fuzz.CheckEngine(&engine); err != nil {
		return err
	}
	chosen := choose(reports, only)
	if len(chosen) == 0 {
		return fmt.Errorf("no report has a name like %q", only)
	}
	if list {
		for _, r := range chosen {
			fmt.Fprintf(out, "%-14s %s\n%15s%s\n", r.name, r.source, "", r.met) //nolint:errcheck // it is all there is to say
		}
		return nil
	}
	if err := checkout.Enter(); err != nil {
		return err
	}
	server, err := fuzz.Start(ctx, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	return judge(ctx, out, server, chosen)
}

// choose are the reports that are wanted.
func choose(all []report, only string) []report {
	return slices.DeleteFunc(slices.Clone(all), func(r report) bool {
		return only != "" && !slices.ContainsFunc(strings.Split(only, ","), func(name string) bool {
			return name != "" && strings.Contains(r.name, name)
		})
	})
}

// judge runs them one after the other, a line each, and the count at the end.
func judge(ctx context.Context, out io.Writer, server *devdb.Server, chosen []report) error {
	var fell []string
	for _, r := range chosen {
		begin := time.Now()
		note, err := try(ctx, server, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fell = append(fell, r.name)
		}
		fmt.Fprintf(out, "%-14s %5.1fs  %s\n", r.name, time.Since(begin).Seconds(), r.verdict(note, err)) //nolint:errcheck // the exit code says it, too
	}
	fmt.Fprintf(out, "%d of %d reports hold\n", len(chosen)-len(fell), len(chosen)) //nolint:errcheck // as above
	if len(fell) > 0 {
		return fmt.Errorf("the library has the fault of %s", strings.Join(fell, ", "))
	}
	return nil
}

// try gives a report a database of its own.
func try(ctx context.Context, server *devdb.Server, r report) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	s, err := open(ctx, server, "report_"+r.name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	err = guarded(ctx, s, r)
	return s.note, err
}

// guarded takes a panic for an error, so that the other reports are run.
func guarded(ctx context.Context, s *scene, r report) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.run(ctx, s)
}

// verdict is what is said of a report that has run.
func (r report) verdict(note string, err error) string {
	text := "holds"
	if r.but != "" {
		text += ", but " + r.but
	}
	if err != nil {
		text = "FALLS: " + err.Error()
	}
	if note != "" {
		text += "; " + note
	}
	return text
}
