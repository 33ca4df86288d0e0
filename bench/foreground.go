package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
)

// What users do meanwhile: a read by the primary key, and a write that is durable.
const (
	sqlUserReads  = `SELECT seen FROM visitor WHERE id = ?`
	sqlUserWrites = `UPDATE visitor SET seen = seen + 1 WHERE id = ?`
	visitors      = 10_000
	atOnce        = 16 // users
)

// foreground is a fifth of what the server can do for users, at an even pace.
type foreground struct {
	*site
	period time.Duration
	every  time.Duration // how often each of them calls
	rate   float64       // how many rows a worker deletes in a second, alone
}

// openForeground finds out how many calls a fifth of what the server can do are, and how fast a worker is.
func openForeground(ctx context.Context, s *site, period time.Duration) (*foreground, error) {
	if err := s.exec(ctx, "DROP TABLE IF EXISTS visitor", "CREATE TABLE visitor (id BIGINT PRIMARY KEY, seen BIGINT NOT NULL) ENGINE=InnoDB",
		fmt.Sprintf("INSERT INTO visitor WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT a.i * 100 + b.i, 0 FROM n AS a JOIN n AS b WHERE a.i * 100 + b.i < %d", visitors)); err != nil {
		return nil, err
	}
	if err := newTree(ctx, s, ""); err != nil {
		return nil, err
	}
	f := &foreground{site: s, period: period}
	var next int64
	done, took, err := s.clients(ctx, atOnce, way{call: f.call}, time.Second, &next, new(sample))
	if err != nil {
		return nil, err
	}
	f.every = took * 5 * atOnce / time.Duration(done)
	rows, took, err := f.alone(ctx)
	f.rate = float64(rows) / took.Seconds()
	return f, err
}

func (f *foreground) call(ctx context.Context, client int, n int64) error {
	id := (n*7919 + int64(client)) % visitors
	var seen int64
	if err := onerow.QueryRow(ctx, f.apart, sqlUserReads, []any{id}, &seen); err != nil {
		return err
	}
	return send(ctx, f.apart, statement{sqlUserWrites, []any{id}})
}

// plant makes so many trees, and no jobs.
func (f *foreground) plant(ctx context.Context, trees int) error {
	if err := f.exec(ctx, "TRUNCATE root", "TRUNCATE mid", "TRUNCATE tip", "DELETE FROM onerow_job", "DELETE FROM onerow_job_archive", "DELETE FROM onerow_job_count"); err != nil {
		return err
	}
	for i := range trees {
		if err := f.exec(ctx, fmt.Sprintf("INSERT INTO root VALUES (%d)", i), fmt.Sprintf("INSERT INTO mid WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT %[1]d * 100 + i, %[1]d FROM n", i)); err != nil {
			return err
		}
		if err := f.exec(ctx, fmt.Sprintf(sqlTips, "")+fmt.Sprintf(" WHERE m.root_id = %d", i)); err != nil {
			return err
		}
	}
	return nil
}

// ready plants more trees than a worker can delete while it is measured, if it has a share of the time.
func (f *foreground) ready(share float64) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := f.plant(ctx, int(f.rate*share*(settle+f.period).Seconds()/treeRows)+4); err != nil {
			return err
		}
		if err := f.exec(ctx, sqlTreeJobs); err != nil {
			return err
		}
		time.Sleep(time.Second) // what was planted is written
		return nil
	}
}

// alone is a worker beside nobody, and it knows that.
func (f *foreground) alone(ctx context.Context) (int, time.Duration, error) {
	const trees = 16
	w, err := cascade.NewWorker(f.db, tree, cascade.Config{})
	if err != nil {
		return 0, 0, err
	}
	err = f.plant(ctx, trees)
	for range 2 {
		err = errors.Join(err, w.Drain(ctx))
		time.Sleep(time.Second)
	}
	if err = errors.Join(err, w.Drain(ctx), f.exec(ctx, sqlTreeJobs)); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	err = w.Drain(ctx)
	return trees * treeRows, time.Since(begin), err
}

// cascade works meanwhile.
func (f *foreground) cascade(c cascade.Config) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		w, err := cascade.NewWorker(f.db, tree, c)
		if err != nil {
			return err
		}
		return w.Run(ctx)
	}
}

// spinning is a process that spins.
func spinning(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	err = exec.CommandContext(ctx, self, "--spin").Run() //nolint:gosec // this program
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	return errors.Join(errors.New("the process that spins has ended"), err)
}

// spin takes a processor for 15 % of the time, 5 ms at once, and has no database.
func spin() {
	const turn = 5 * time.Millisecond
	for {
		for begin := time.Now(); time.Since(begin) < turn; { //nolint:revive // to do nothing is what it is for
		}
		time.Sleep(turn * 85 / 15)
	}
}

const (
	settle = 3 * time.Second // in which a worker feels that others are there
	long   = 5 * time.Second // in which there are enough calls for a 99th percentile
)

// ways are what users have beside them.
func (f *foreground) ways() []way {
	const alone = "alone"
	list := []way{
		{name: alone},
		{name: "beside a process that spins 15 % of the time, without a database", beside: spinning},
		{name: "beside onerow's cascade", aim: aim{of: alone, p99: 1.5}, beside: f.cascade(cascade.Config{})},
		{name: "beside onerow's cascade at full speed", beside: f.cascade(cascade.Config{Load: 1})},
	}
	for i := range list {
		list[i].call, list[i].every, list[i].ready, list[i].settle, list[i].least = f.call, f.every, f.ready(0.5), settle, f.period
	}
	list[3].ready = f.ready(1)
	return list
}

// users are those who have a cascade beside them.
func users(period time.Duration) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		f, err := openForeground(ctx, s, max(period, long))
		if err != nil {
			return nil, err
		}
		return f.ways(), nil
	}
}

// background is the cascade, row by row, beside them.
func background(period time.Duration) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		f, err := openForeground(ctx, s, period)
		if err != nil {
			return nil, err
		}
		const alone = "onerow's cascade, alone"
		return []way{
			{name: alone, all: f.alone},
			{name: "onerow's cascade, beside users", aim: aim{of: alone, share: 0.1}, all: f.deletes(cascade.Config{})},
		}, nil
	}
}

// deletes is how many rows a worker deletes in a period, beside users.
func (f *foreground) deletes(c cascade.Config) func(ctx context.Context) (int, time.Duration, error) {
	return func(ctx context.Context) (int, time.Duration, error) { return f.deleted(ctx, c) }
}

func (f *foreground) deleted(ctx context.Context, c cascade.Config) (int, time.Duration, error) {
	if err := f.ready(0.5)(ctx); err != nil {
		return 0, 0, err
	}
	var before, after int
	var errBefore error
	first := time.AfterFunc(settle, func() { before, errBefore = f.counted(ctx) })
	defer first.Stop()
	var next int64
	_, took, err := f.clients(ctx, atOnce, way{call: f.call, every: f.every, beside: f.cascade(c), settle: settle}, f.period, &next, new(sample))
	if err == nil {
		after, err = f.counted(ctx)
	}
	return after - before, took, errors.Join(err, errBefore)
}

// counted is how many rows workers have deleted so far.
func (f *foreground) counted(ctx context.Context) (rows int, err error) {
	err = onerow.QueryRow(ctx, f.apart, "SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count", nil, &rows)
	return rows, err
}
