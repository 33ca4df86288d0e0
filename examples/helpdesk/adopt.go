package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
)

//go:embed plan.yaml
var planText []byte

// Plan is plan.yaml.
func Plan() (schema.Plan, error) { return planfile.Parse("plan.yaml", planText) }

// versionTable is where goose remembers which files have run. (An operator keeps them in a folder, where
// cascade-worker adopt --out writes them.)
const versionTable = "helpdesk_goose_version"

// errAgainst means that a person has to see to something first.
var errAgainst = errors.New("the tables cannot be adopted yet")

// files are those of all resources before the backfill, or behind it, numbered from next on. What has been
// done is not among them.
func files(ctx context.Context, db *sql.DB, last bool, next int64) (fstest.MapFS, error) {
	plan, err := Plan()
	if err != nil {
		return nil, err
	}
	all := fstest.MapFS{}
	for _, r := range plan.Resources {
		a, err := adopt.Prepare(ctx, db, plan, r.Name)
		if err != nil {
			return nil, err
		}
		for _, d := range a.Against {
			err = errors.Join(err, fmt.Errorf("%w: %s", errAgainst, d))
		}
		if err != nil {
			return nil, err
		}
		a.Steps = slices.DeleteFunc(a.Steps, func(s adopt.Step) bool { return s.Last != last })
		for name, text := range adopt.Files(a, next) {
			all[name] = &fstest.MapFile{Data: []byte(text)}
			next++
		}
	}
	return all, nil
}

// run runs files behind those that have run.
func run(ctx context.Context, db *sql.DB, last bool, say func(format string, args ...any)) error {
	var version int64
	for range 2 { // numbered from 1 to ask for the last number, then behind it
		all, err := files(ctx, db, last, version+1)
		if err != nil || len(all) == 0 {
			return err
		}
		provider, err := migrations.New(db, all, versionTable)
		if err != nil {
			return err
		}
		if version == 0 {
			if version, err = provider.GetDBVersion(ctx); err != nil {
				return err
			}
			if version > 0 {
				continue
			}
		}
		return up(ctx, provider, say)
	}
	return nil
}

// up runs files, again where one waited in vain for others' transactions to end, or was refused for one of
// them, as docs/ADOPTING.md says.
func up(ctx context.Context, files *goose.Provider, say func(format string, args ...any)) error {
	for tries := 1; ; tries++ {
		results, err := files.Up(ctx)
		for _, r := range results {
			say("%s\n", r)
		}
		if tries == maxTries || !onerow.Retryable(err) {
			return err
		}
		say("%v; again\n", err)
	}
}

const maxTries = 5

// Expand runs the files that nobody notices. It may be called again after a crash.
func Expand(ctx context.Context, db *sql.DB, say func(format string, args ...any)) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	return run(ctx, db, false, say)
}

// Backfill fills in the keys of names, and the times that nobody knows, beside any writer. Rows whose name is
// taken are renamed, as their activation would.
func Backfill(ctx context.Context, db *sql.DB, say func(format string, args ...any)) error {
	plan, err := Plan()
	if err != nil {
		return err
	}
	for _, r := range plan.Resources {
		report, err := adopt.Backfill(ctx, db, plan, r.Name, adopt.Options{Copies: true})
		if err != nil {
			return err
		}
		for _, l := range report.Left {
			err = errors.Join(err, fmt.Errorf("%w: %s %s %q: %w", errAgainst, l.Table, l.ID, l.Name, l.Err))
		}
		if err != nil {
			return err
		}
		say("backfill of %s: %d rows read, %d writes, %d renamed\n", r.Name, report.Rows, report.Written, report.Copied)
	}
	return nil
}

// Contract runs the files that other writers notice, and holds the tables against the plan. Writers have been
// taught before, and Backfill has run once more after that.
func Contract(ctx context.Context, db *sql.DB, say func(format string, args ...any)) error {
	if err := run(ctx, db, true, say); err != nil {
		return err
	}
	plan, err := Plan()
	if err != nil {
		return err
	}
	return live.Verify(ctx, db, plan)
}
