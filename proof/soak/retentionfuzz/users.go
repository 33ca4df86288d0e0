package retentionfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// session is a pool whose sessions are in a time zone.
type session struct {
	db   *sql.DB
	zone *time.Location
}

// user is one who works beside the workers.
type user struct {
	*world
	r *rand.Rand
	s session
}

// acts are what users do, and how often.
var acts = []struct {
	name  string
	often int
	do    func(u *user, ctx context.Context) error
}{
	{"touch", 45, (*user).touch},
	{"insert", 10, (*user).insert},
	{"delete", 8, (*user).remove},
	{"ask", 3, (*user).ask},
	{"restore", 20, (*user).restore},
	{"cancel", 8, (*user).cancel},
}

// act does one thing.
func (u *user) act(ctx context.Context) {
	total := 0
	for _, a := range acts {
		total += a.often
	}
	n := u.r.IntN(total)
	u.s = u.pools[u.r.IntN(len(u.pools))]
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, a := range acts {
		if n -= a.often; n < 0 {
			err := a.do(u, ctx)
			if !errors.Is(err, errNothing) {
				u.book.count(a.name, err)
			}
			return
		}
	}
}

// errNothing says that there was nothing to do.
var errNothing = errors.New("soak: there is no such row")

// pick draws a row, which may be gone.
func (u *user) pick() (t table, p place) {
	p.table = u.r.IntN(len(u.tables))
	p.id = 1 + u.r.Int64N(u.ids[p.table].Load())
	return u.tables[p.table], p
}

// written draws what a user writes as the time: mostly now, else what is due soon, or since a little while.
func (u *user) written(t table) time.Time {
	at := u.clock.now()
	if u.r.IntN(4) == 0 {
		at = at.Add(-t.keep).Add(time.Duration(u.r.Int64N(int64(time.Hour))) - 30*time.Minute)
	}
	return u.fits(t, at)
}

// where finds a row.
func (t table) where(id int64) string {
	text := fmt.Sprintf(" WHERE id = %d", id)
	if t.two {
		text += " AND host = '" + host(id) + "'"
	}
	return text
}

// touch writes a row, at once or in a transaction that lasts, and may be rolled back.
func (u *user) touch(ctx context.Context) error {
	t, p := u.pick()
	at := u.written(t)
	version := u.book.next(entry{table: p.table, id: p.id, op: wrote, began: at})
	query := fmt.Sprintf("UPDATE %s SET at = '%s', version = %d%s", t.name, u.reading(t, at, u.s.zone), version, t.where(p.id))
	rolled := errors.New("as drawn")
	err := onerow.InTx(ctx, u.s.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, query)
		if err == nil && n == 0 {
			return errNothing
		}
		if err == nil && u.r.IntN(4) == 0 {
			fuzz.Pause(ctx, time.Duration(u.r.Int64N(int64(300*time.Millisecond))))
			if u.r.IntN(4) == 0 {
				return rolled
			}
		}
		return err
	})
	u.tell(version, err, errNothing, rolled)
	if errors.Is(err, rolled) {
		return errNothing
	}
	return err //nolint:wrapcheck // it is counted
}

// tell notes what came of a write.
func (u *user) tell(version int64, err error, refusals ...error) {
	if err == nil {
		u.book.tell(version, done)
	}
	for _, r := range refusals {
		if errors.Is(err, r) {
			u.book.tell(version, refused)
		}
	}
}

// insert makes a row with what is below it.
func (u *user) insert(ctx context.Context) error {
	t, p := u.pick()
	p.id = u.ids[p.table].Add(1)
	at, leaves := u.written(t), 0
	if t.below {
		leaves = u.r.IntN(3)
	}
	version := u.book.next(entry{table: p.table, id: p.id, op: born, began: at})
	first := ""
	if t.two {
		first = "'" + host(p.id) + "', "
	}
	err := onerow.InTx(ctx, u.s.db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s, version, leaves, at) VALUES (%s%d, %d, %d, '%s')", t.name, strings.Join(t.key(), ", "), first, p.id, version, leaves, u.reading(t, at, u.s.zone)))
		for range leaves {
			if err == nil {
				_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (up) VALUES (%d)", t.leaf(), p.id))
			}
		}
		return err
	})
	u.tell(version, err)
	return err //nolint:wrapcheck // it is counted
}

// remove deletes a row and what is below it by SQL of its own; the version that it writes before says so.
func (u *user) remove(ctx context.Context) error {
	t, p := u.pick()
	version := u.book.next(entry{table: p.table, id: p.id, op: gone})
	err := onerow.InTx(ctx, u.s.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, fmt.Sprintf("UPDATE %s SET version = %d%s", t.name, version, t.where(p.id)))
		switch {
		case err != nil:
			return err
		case n == 0:
			return errNothing
		}
		if t.below {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE up = %d", t.leaf(), p.id))
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM "+t.name+t.where(p.id)) //nolint:gosec // numbers and our names
		}
		return err
	})
	u.tell(version, err, errNothing)
	return err //nolint:wrapcheck // it is counted
}

// ask has a row deleted as users do it, whatever its age is.
func (u *user) ask(ctx context.Context) error {
	t, p := u.pick()
	id, err := t.resourceID(p.id)
	if err != nil {
		return err
	}
	u.book.ask(p)
	d := queue.Deletion{Resource: t.name, ResourceID: id, From: queue.FromOperator}
	return onerow.InTx(ctx, u.s.db, func(ctx context.Context, tx *onerow.Tx) error { //nolint:wrapcheck // it is counted
		id, err := queue.Log(ctx, tx, d)
		if err != nil {
			return err //nolint:wrapcheck // it is counted
		}
		again := d
		again.ID = id
		_, err = queue.Enqueue(ctx, tx, again)
		return err //nolint:wrapcheck // it is counted
	})
}

// restore brings back what a job has deleted, or is deleting.
func (u *user) restore(ctx context.Context) error {
	query := `SELECT a.id FROM onerow_job_archive AS a WHERE a.id >= FLOOR(? * (SELECT MAX(id) FROM onerow_job_archive)) AND a.state = 'done' AND a.resource IN (` + u.kept() + `) ORDER BY a.id LIMIT 1`
	if u.r.IntN(5) == 0 {
		query = `SELECT id FROM onerow_job WHERE ? >= 0 AND state = 'running' AND resource IN (` + u.kept() + `) LIMIT 1`
	}
	var job int64
	err := onerow.QueryRow(ctx, u.s.db, query, []any{u.r.Float64()}, &job)
	if errors.Is(err, sql.ErrNoRows) {
		return errNothing
	}
	if err != nil {
		return err //nolint:wrapcheck // it is counted
	}
	_, p, err := recover.Job(ctx, u.s.db, u.plan(), job, recover.Options{})
	if err == nil && p.RootMissing == "" {
		u.book.back(job)
	}
	return err //nolint:wrapcheck // it is counted
}

// kept are the names of the tables with a trash, in a statement.
func (d *design) kept() string {
	var names []string
	for _, t := range d.tables {
		if t.trash {
			names = append(names, "'"+t.name+"'")
		}
	}
	return strings.Join(names, ", ")
}

// cancel takes back the deletion of a row that retention has found.
func (u *user) cancel(ctx context.Context) error {
	var job queue.Job
	err := onerow.QueryRow(ctx, u.s.db, "SELECT id, resource, resource_id, deletion_id FROM onerow_job WHERE state IN ('ready', 'running') ORDER BY id LIMIT 1 OFFSET ?", []any{u.r.IntN(40)},
		&job.ID, &job.Resource, &job.ResourceID, &job.DeletionID)
	if errors.Is(err, sql.ErrNoRows) {
		return errNothing
	}
	if err == nil {
		_, err = queue.HoldJob(ctx, u.s.db, job.ID, "a user wants it back")
	}
	if err == nil {
		err = queue.Cancel(ctx, u.s.db, job.Resource, job.ResourceID, job.DeletionID)
	}
	return err //nolint:wrapcheck // it is counted
}
