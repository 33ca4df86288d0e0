package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
)

// trial deletes rows of a database and brings them back.
type trial struct {
	db     *sql.DB
	c      *contents
	before schematest.Snapshot
	whole  *planned
	r      *rand.Rand
}

// planned is a plan, and what it must come to.
type planned struct {
	plan   schema.Plan
	oracle *oracle
}

// tally is what trials came to.
type tally struct {
	roots                         int
	deleted, detached             int64
	afterDeletion, afterRestoring int // differences
}

// newTrial makes the trash tables of a plan of all tables.
func newTrial(ctx context.Context, db *sql.DB, c *contents, roots []string, seed uint64) (*trial, error) {
	t := &trial{db: db, c: c, r: rand.New(rand.NewPCG(seed, 9))} //nolint:gosec // to be repeated
	if err := migrations.Up(ctx, db); err != nil {
		return nil, err
	}
	plan, err := discovered(ctx, db, roots)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	ddl, err := cat.TrashDDL(plan)
	if err != nil {
		return nil, err
	}
	for _, s := range ddl {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return nil, fmt.Errorf("%w in %.300s", err, s)
		}
	}
	if t.before, err = schematest.Read(ctx, db); err != nil {
		return nil, err
	}
	t.whole, err = t.planned(ctx, roots)
	return t, err
}

// discovered is what somebody does who wants to delete rows of these tables.
func discovered(ctx context.Context, db *sql.DB, roots []string) (schema.Plan, error) {
	plan, _, _, err := discover.Plan(ctx, db, schema.Plan{}, roots, nil)
	if err == nil {
		err = plan.Trash.UnmarshalText([]byte("30d"))
	}
	return plan, err
}

// planned has verify look at the plan of some roots.
func (t *trial) planned(ctx context.Context, roots []string) (*planned, error) {
	plan, err := discovered(ctx, t.db, roots)
	if err != nil {
		return nil, err
	}
	if err := live.Verify(ctx, t.db, plan); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	o, err := newOracle(t.before, t.c.keys, plan)
	return &planned{plan, o}, err
}

// roots are so many rows of each table that the plan can begin with: first the one of a few with which most
// goes, then any.
func (t *trial) roots(each int) (list []place) {
	for _, about := range t.whole.plan.Tables {
		if about.Stays {
			continue
		}
		rows := t.r.Perm(len(t.before[about.Name].Rows))
		slices.SortStableFunc(rows[:min(4, len(rows))], func(a, b int) int {
			return int(t.whole.oracle.of(place{about.Name, b}).rows() - t.whole.oracle.of(place{about.Name, a}).rows())
		})
		for _, n := range rows[:min(each, len(rows))] {
			list = append(list, place{about.Name, n})
		}
	}
	return list
}

// rows is how many rows a deletion concerns.
func (o outcome) rows() (n int64) {
	for _, m := range []map[string]int64{o.deleted, o.detached} {
		for _, rows := range m {
			n += rows
		}
	}
	return n
}

// run deletes a root, compares, brings it back, and compares.
func (t *trial) run(ctx context.Context, p *planned, root place, sum *tally) ([]string, error) {
	key, err := t.key(root)
	if err != nil {
		return nil, err
	}
	want := p.oracle.of(root)
	d := queue.Deletion{Resource: root.table, ResourceID: key}
	if d.ID, err = queue.Log(ctx, t.db, d); err != nil {
		return nil, err
	}
	queued, err := queue.Enqueue(ctx, t.db, d)
	if err != nil {
		return nil, err
	}
	w, err := cascade.NewWorker(t.db, p.plan, cascade.Config{MaxFailures: 1, Batch: 1 + t.r.IntN(40), Chunk: 1 + t.r.IntN(20)})
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		return nil, err
	}
	job, err := queue.Get(ctx, t.db, queued.ID)
	if err != nil {
		return nil, err
	}
	var lines []string
	want.deleted[root.table]-- // a job does not count its root
	maps.DeleteFunc(want.deleted, func(_ string, n int64) bool { return n == 0 })
	maps.DeleteFunc(job.Tables, func(_ string, n int64) bool { return n == 0 })
	if job.State != queue.Done || !maps.Equal(job.Tables, want.deleted) {
		lines = append(lines, fmt.Sprintf("the job is %s (%s) and says that it has deleted %v, the oracle %v", job.State, job.LastError, job.Tables, want.deleted))
	}
	more, err := t.differs(ctx, want.after)
	if err != nil {
		return lines, err
	}
	lines = append(lines, more...)
	sum.afterDeletion += len(lines)
	sum.roots++
	sum.deleted++
	for _, n := range want.deleted {
		sum.deleted += n
	}
	for _, n := range want.detached {
		sum.detached += n
	}
	back, err := t.restore(ctx, p.plan, queued.ID)
	sum.afterRestoring += len(back)
	return append(lines, back...), err
}

func (t *trial) restore(ctx context.Context, plan schema.Plan, job int64) (lines []string, err error) {
	_, p, err := recover.Job(ctx, t.db, plan, job, recover.Options{Batch: 1 + t.r.IntN(100)})
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if p.Changed > 0 || p.Stuck > 0 {
		lines = append(lines, fmt.Sprintf("restored with %d changed and %d stuck: %s", p.Changed, p.Stuck, p.Why))
	}
	more, err := t.differs(ctx, t.before)
	return append(lines, more...), err
}

func (t *trial) differs(ctx context.Context, want schematest.Snapshot) ([]string, error) {
	got, err := t.before.Again(ctx, t.db)
	if err != nil {
		return nil, err
	}
	return schematest.Diff(want, got), nil
}

// key is the root's primary key as jobs hold it.
func (t *trial) key(p place) (string, error) {
	c, about := t.before[p.table], t.c.table(p.table)
	var parts []any
	for _, name := range c.Key {
		v := c.Rows[p.row][slices.Index(c.Columns, name)].String
		switch data := about.column(name).data; {
		case strings.HasSuffix(data, "int"):
			signed, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return "", err
			}
			parts = append(parts, signed)
		case strings.HasSuffix(data, "binary"), strings.HasSuffix(data, "blob"):
			parts = append(parts, []byte(v))
		default:
			parts = append(parts, v)
		}
	}
	return onerow.EncodeKey(parts...)
}
