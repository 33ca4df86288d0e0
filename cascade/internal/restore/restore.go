// Package restore brings back what package trash has kept: from the last step of a job to its first, so
// parents before children, in batches.
//
// A batch is one transaction: the fence; the next steps, locked, and what has become of the others; for each
// of them the keys, the rows above (locked, 1 for each edge), INSERT … SELECT, and the note that they are
// back; quotas and limits of the owners; how many are back. Whatever cuts it leaves the batch undone or done.
// Rows that cannot come back stay in the trash with the reason, and the rest goes on.
//
// Open this package when rows come back in the wrong order, or one stays in the trash that should not.
package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/rowkey"
)

// Outcome is what a batch has done.
type Outcome struct {
	Before     int64 // the next batch takes the steps before this one; 0: there is none
	Rows       int64 // that are back
	References int64 // that are set again
	Changed    int64 // references that somebody has set since, or whose row is gone: they stay as they are
	Stuck      int64 // rows that stay in the trash
	Removed    int64 // rows that were noted, and are not in the trash table any more
	Why        string
}

const maxSteps = 50

// Batch brings about most rows of a job back, from the steps numbered below before. The transaction holds the
// fence, so nobody else brings rows back, nor deletes.
func Batch(ctx context.Context, tx *onerow.Tx, g *graph.Graph, job *Job, before int64, most int) (Outcome, error) {
	steps, err := trash.Steps(ctx, tx, job.ID, before, maxSteps)
	if err != nil || len(steps) == 0 {
		return Outcome{}, err
	}
	p, err := readProgress(ctx, tx, job, before)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	var back []trash.Step
	for _, s := range steps {
		n, err := out.step(ctx, tx, g, p, s)
		if err != nil {
			return Outcome{}, fmt.Errorf("%d rows of %s: %w", s.Rows, s.Table, err)
		}
		if n > 0 {
			s.Rows = n
			back = append(back, s)
		}
		out.Before = s.Number
		if out.Rows+out.References+out.Changed+out.Stuck+out.Removed >= int64(most) {
			break
		}
	}
	return out, trash.NoteBack(ctx, tx, back)
}

// step returns how many rows or references of the step are done.
func (out *Outcome) step(ctx context.Context, tx *onerow.Tx, g *graph.Graph, p *progress, s trash.Step) (int64, error) {
	t := g.Table(s.Table)
	cannot := ""
	switch {
	case t == nil || t.Trash == nil:
		cannot = "the plan does not keep rows of " + s.Table
	case s.Cut != nil && !t.Trash.Has(s.Cut):
		cannot = fmt.Sprintf("%s has no column %s any more, which referred to something", s.Table, strings.Join(s.Cut, ", "))
	}
	if cannot != "" {
		out.Stuck, out.Why = out.Stuck+s.Rows, cannot
		if s.Cut == nil {
			p.open[s.Table] = append(p.open[s.Table], s.Number)
		}
		return 0, s.Stay(ctx, tx, s.Rows, cannot)
	}
	try := &attempt{tx: tx, graph: g, step: s, table: t, progress: p, stuck: map[rowkey.Key]bool{}}
	if err := try.itself(ctx); err != nil {
		return 0, err
	}
	for _, e := range g.Edges {
		err := try.below(ctx, e)
		if err == nil {
			err = try.above(ctx, e)
		}
		if err != nil {
			return 0, err
		}
	}
	back, err := try.restoreRows(ctx)
	if err != nil {
		return 0, err
	}
	return out.record(ctx, try, back)
}

// record notes what came of the step: rows that are back, those that stay, and those that are missing from
// the trash table.
func (out *Outcome) record(ctx context.Context, try *attempt, back []graph.Row) (left int64, err error) {
	s, t, p := try.step, try.table, try.progress
	stuck := slices.Sorted(maps.Keys(try.stuck))
	left = s.Rows - int64(len(stuck))
	if try.written != left { // changed, ended unsaid, or somebody has taken rows out of the trash table
		there, err := s.Count(ctx, try.tx, t)
		if err == nil && s.Cut == nil && there-int64(len(stuck)) != try.written {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return 0, err
		}
		if gone := s.Rows - there; gone > 0 {
			out.Removed, out.Why = out.Removed+gone, "somebody has removed rows from "+t.Trash.From
			if s.Cut == nil {
				p.left[s.Table] -= gone
			}
		}
		s.Rows, left = there, there-int64(len(stuck))
	}
	if err := s.MarkReturned(ctx, try.tx, t, stuck, try.why); err != nil {
		return 0, err
	}
	if out.Stuck += int64(len(stuck)); len(stuck) > 0 {
		out.Why = try.why
	}
	if s.Cut != nil {
		out.References += try.written
		out.Changed += left - try.written
		return left, nil
	}
	out.Rows += left
	p.left[s.Table] -= left
	p.back[s.Table] += left
	if len(stuck) > 0 {
		p.open[s.Table] = append(p.open[s.Table], s.Number)
	}
	return left, work.MarkOwners(ctx, try.tx, t, back)
}

// listLength is how many keys a statement lists at most, as in package work.
const listLength = 500

// attempt is what comes of one step.
type attempt struct {
	tx       *onerow.Tx
	graph    *graph.Graph
	step     trash.Step
	table    *graph.Table
	progress *progress
	written  int64
	stuck    map[rowkey.Key]bool
	why      string
}

// restoreRows brings the step back: in one INSERT, if no row is refused and the rows have no owners to tell.
// Else it reads them, and returns those that are back.
func (a *attempt) restoreRows(ctx context.Context) (back []graph.Row, err error) {
	if a.step.Cut == nil && len(a.stuck) == 0 && !a.table.Node.Owned {
		a.written, err = onerow.Affected(ctx, a.tx, a.step.InsertSQL(a.table, nil))
		if err == nil || errors.Is(err, onerow.ErrTxPoisoned) || !fault.OfRow(err) {
			return nil, err
		}
		a.written = 0
	}
	rows, err := a.step.Read(ctx, a.tx, a.table)
	if err != nil {
		return nil, err
	}
	isStuck := func(v graph.Row) bool { return a.stuck[v.Key] }
	query := a.step.InsertSQL
	if a.step.Cut != nil {
		query = func(t *graph.Table, keys []rowkey.Key) string { return a.step.RejoinSQL(a.graph, t, keys) }
	}
	back = slices.DeleteFunc(rows, isStuck)
	for part := range slices.Chunk(graph.KeysOf(back), listLength) {
		if err := a.write(ctx, query, part); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(back, isStuck), nil
}

// write writes the rows, and halves them where one of them is refused. A statement that is refused has
// written nothing.
func (a *attempt) write(ctx context.Context, query func(*graph.Table, []rowkey.Key) string, keys []rowkey.Key) error {
	if len(keys) == 0 {
		return nil
	}
	n, err := onerow.Affected(ctx, a.tx, query(a.table, keys))
	switch {
	case err == nil:
		a.written += n
		return nil
	case errors.Is(err, onerow.ErrTxPoisoned), !fault.OfRow(err):
		return err
	case len(keys) == 1:
		a.stay(keys[0], fault.Redact(err))
		return nil
	}
	for _, half := range [][]rowkey.Key{keys[:len(keys)/2], keys[len(keys)/2:]} {
		if err := a.write(ctx, query, half); err != nil {
			return err
		}
	}
	return nil
}

func (a *attempt) stay(key rowkey.Key, why string) {
	a.stuck[key] = true
	if name, err := a.table.Key.Encode(key); err == nil {
		why = "row " + name + ": " + why
	}
	a.why = dbtext.Fit(why, fault.MaxText)
}
