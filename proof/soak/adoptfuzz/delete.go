package adoptfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
)

type adoptedTicket struct {
	ID     int64  `db:"id"`
	DeskID int64  `db:"desk_id"`
	Title  string `db:"title"`
	Token  int64  `db:"token"`
}

// other is a version that was declared before, or comes behind, the one that the tables have.
func (r *round) other(rnd *rand.Rand) version {
	return version((int(r.final) + 1 + rnd.IntN(versions-1)) % versions)
}

// delete has rows deleted by programs of two versions of the plan, with workers of both, while sessions and
// connections end, and judges what is left.
func (r *round) delete(ctx context.Context, rnd *rand.Rand, before tables) error {
	plans := []version{r.final, r.other(rnd)}
	if r.final != column && plans[1] == column && !r.until(ctx, "a column for the other plan", func() error { return r.alter(ctx, r.priority()) }) {
		return errNoEnd
	}
	db, err := r.server.guarded(r.server.wild, r.database)
	if err != nil {
		return err
	}
	defer fuzz.Close(db)
	db.SetMaxOpenConns(12)
	working, stop := context.WithCancel(ctx)
	defer stop()
	var workers, clients sync.WaitGroup
	var repos []*repo.Repo[adoptedTicket]
	for _, v := range plans {
		tickets, err := repo.New[adoptedTicket](r.shape.plan(v), "ticket")
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		repos = append(repos, tickets)
		worker, err := cascade.NewWorker(db, r.shape.plan(v), cascade.Config{
			Poll: 100 * time.Millisecond, Lease: 2 * time.Second, Load: 1, Batch: 1 + rnd.IntN(20), Chunk: 1 + rnd.IntN(10), Turn: 300 * time.Millisecond, Name: v.String()})
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		workers.Go(func() {
			if err := worker.Run(working); err != nil {
				r.found.Add(brokenEnd, "the worker of %v ended: %v", v, err)
			}
		})
	}
	asked := r.draw(rnd, before)
	jobs, errs := make([]map[int64]int64, len(repos)), make([]error, len(repos)+1)
	for i, tickets := range repos {
		clients.Go(func() { jobs[i], errs[i] = r.ask(ctx, db, tickets, asked, i, plans[i] == r.final) })
	}
	if rnd.IntN(3) == 0 && r.kills {
		errs[len(repos)] = r.server.restart(ctx)
		r.counts.restarts.Add(1)
	}
	clients.Wait()
	again := r.killer.Rest()
	defer again()
	err = errors.Join(append(errs, r.drained(ctx))...)
	stop()
	workers.Wait()
	if err != nil {
		return err
	}
	return r.judgeDeletions(ctx, before, asked, jobs)
}

// draw draws which rows go: one of twenty.
func (r *round) draw(rnd *rand.Rand, before tables) (asked map[int64]bool) {
	asked = map[int64]bool{}
	for _, h := range before.tickets {
		if rnd.IntN(20) == 0 {
			asked[h.id] = true
		}
	}
	return asked
}

// ask has one program delete its half of the rows and some of the other's, and returns their jobs.
func (r *round) ask(ctx context.Context, db *sql.DB, tickets *repo.Repo[adoptedTicket], asked map[int64]bool, part int, grace bool) (jobs map[int64]int64, err error) {
	rnd := r.rand(40 + uint64(part)) //nolint:gosec // small
	jobs = map[int64]int64{}
	for id := range asked {
		if int(id%2) != part && rnd.IntN(6) > 0 {
			continue
		}
		var opts []repo.DeleteOption
		if grace && rnd.IntN(4) == 0 {
			opts = append(opts, repo.Grace(100*time.Millisecond))
		}
		ok := r.until(ctx, fmt.Sprint("the deletion of ", id), func() error {
			d, err := tickets.Delete(ctx, db, id, opts...)
			if err == nil {
				jobs[id] = d.JobID
			} else {
				r.tally("delete: " + short(err))
			}
			return err //nolint:wrapcheck // it is looked at
		})
		if !ok {
			return jobs, errors.New("soak: a row cannot be deleted")
		}
		r.counts.deletions.Add(1)
	}
	return jobs, nil
}

// drained waits until no job is open.
func (r *round) drained(ctx context.Context) error {
	open := 0
	done, err := fuzz.Within(ctx, deadline, func() (bool, error) {
		err := r.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+r.table("onerow_job")).Scan(&open)
		return err == nil && open == 0, nil
	})
	if !done {
		r.found.Add(brokenEnd, "%d jobs are there after %v", open, deadline)
	}
	return err //nolint:wrapcheck // it says all
}

func (r *round) judgeDeletions(ctx context.Context, before tables, asked map[int64]bool, jobs []map[int64]int64) error {
	after, err := r.read(ctx)
	if err != nil {
		return err
	}
	d := deletions{before: before, after: after, asked: asked}
	d.judge(r.found.Add)
	db, err := r.server.guarded(r.server.calm, r.database)
	if err != nil {
		return err
	}
	defer fuzz.Close(db)
	notes, watches := map[int64]int64{}, map[int64]int64{}
	for _, id := range before.notes {
		notes[id]++
	}
	for _, id := range before.watches {
		watches[id.Int64]++
	}
	for _, some := range jobs {
		for id, job := range some {
			j, err := queue.Get(ctx, db, job)
			if err != nil || j.State != queue.Done || j.Tables["note"] != notes[id] || j.Detached["watch"] != watches[id] || j.Parked > 0 {
				r.found.Add(brokenAsked, "job %d of row %d, which had %d notes and %d watches: %v, %+v", job, id, notes[id], watches[id], err, j)
			}
		}
	}
	return r.create(ctx, db, before)
}

// create makes a row, which gets an id that no row has had.
func (r *round) create(ctx context.Context, db *sql.DB, before tables) error {
	tickets, err := repo.New[adoptedTicket](r.shape.plan(r.final), "ticket")
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	made, err := tickets.Create(ctx, db, adoptedTicket{DeskID: 1, Title: "The last one", Token: -1})
	if last := before.tickets[len(before.tickets)-1].id; err == nil && made.Row.ID <= last {
		r.found.Add(brokenNumbered, "%d, and there was %d", made.Row.ID, last)
	}
	return err //nolint:wrapcheck // it says all
}
