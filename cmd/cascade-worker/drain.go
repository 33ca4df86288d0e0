package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
)

type drainCmd struct {
	workFlags
}

// Help is the command's longer description.
func (drainCmd) Help() string {
	return `Works every job that is due and exits. Jobs in their grace period, jobs that wait
for their next attempt and jobs of other workers are left. Exits with 1 if a job
failed, is dead or ended with leftovers, or when it is interrupted; what was begun is
given back and goes on later. While the workers are paused, or a throttle has a reason,
it waits and says so, if there is work.

Examples:

    cascade-worker drain --plan plan.yaml
    cascade-worker drain --plan plan.yaml --batch 5000
    cascade-worker drain --plan plan.yaml --load 0.2 --max-threads-running 20`
}

// Run works until no job is due.
func (c *drainCmd) Run(ctx context.Context, a *app) (err error) {
	show := newProgress(a.stderr, a.terminal)
	w, err := a.worker(ctx, c.workFlags, cascade.Config{Log: logger(show, c.LogFormat, slog.LevelWarn), OnProgress: show.job, Observer: show})
	if err != nil {
		return errors.Join(err, show.end())
	}
	defer func() { err = errors.Join(err, w.close()) }()
	due, later, err := cascade.CountDue(ctx, w.db)
	if err != nil {
		return errors.Join(err, show.end())
	}
	if due == 0 { // else it would wait for the end of a pause, to do nothing
		_, err := fmt.Fprintln(a.stdout, show.sum().summary(0, due, later, true))
		return errors.Join(err, show.end())
	}
	if err := notePause(ctx, w.db, a); err != nil {
		return errors.Join(err, show.end())
	}
	begin := time.Now()
	show.begin(due)
	drained := w.Drain(ctx)
	drained = errors.Join(drained, show.end())

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	due, later, counted := cascade.CountDue(after, w.db)
	sum := show.sum()
	if _, err := fmt.Fprintln(a.stdout, sum.summary(time.Since(begin), due, later, counted == nil)); err != nil {
		return errors.Join(drained, err)
	}
	switch {
	case drained != nil:
		return errors.Join(drained, counted)
	case counted != nil:
		return counted
	case sum.dead+sum.failed > 0:
		return fmt.Errorf("%s could not be worked: see %s jobs", output.Plural(sum.dead+sum.failed, "job"), programName)
	case sum.left > 0:
		return fmt.Errorf("%s ended with leftovers: see %s parked list", output.Plural(sum.left, "job"), programName)
	}
	return nil
}
