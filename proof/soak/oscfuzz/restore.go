package oscfuzz

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
)

// restore brings a tree back. One that fails is called again, perhaps at the end. Of one that answers the
// tables are read at once.
func (c *client) restore(ctx context.Context, t *tree) error {
	if t.state == deleted && c.r.IntN(3) == 0 { // else the worker is often not done, or has not begun
		if job, err := queue.Get(ctx, c.db, t.job); err != nil || job.State != queue.Done {
			return err //nolint:wrapcheck // it is looked at
		}
	}
	return c.bringBack(ctx, t, 1+c.r.IntN(30))
}

func (w *world) bringBack(ctx context.Context, t *tree, batch int) error {
	t.state = opened
	t.restored++
	back, p, err := recover.Job(ctx, w.db, w.shop.plan, t.job, recover.Options{Batch: batch})
	if err != nil {
		switch {
		case errors.Is(err, queue.ErrNoJob):
			w.found.Add(brokenNoJob, "job %d, while there is %v: %v", t.job, w.now.Load(), err)
		case errors.Is(err, recover.ErrNotKept): // the worker has begun, and kept nothing yet; at the end it is a finding
		case !refused(err) && !w.changing():
			w.found.Add(brokenRestore, "job %d, while nothing is altered: %v", t.job, err)
		}
		return err //nolint:wrapcheck // it is looked at
	}
	t.state = alive
	if lost := lacks(p); lost != "" || back.Renamed() {
		w.found.Add(brokenRestore, "job %d of project %d is not all back: %s; the project is now %q, it was %q", t.job, t.id, lost, back.Name, back.OldName)
	}
	return w.look(ctx, t)
}

// lacks is what a restore tells as missing: of a column that was taken away again nothing is missed.
func lacks(p recover.Progress) string {
	var all []string
	for _, m := range p.Missing {
		if !strings.HasPrefix(m.Column, extra) {
			all = append(all, fmt.Sprintf("%+v", m))
		}
	}
	if p.RootMissing != "" {
		all = append(all, p.RootMissing)
	}
	return strings.Join(all, "; ")
}

// look holds a tree that is back against what it was. It is read in one transaction, for its tables may be
// exchanged meanwhile.
func (w *world) look(ctx context.Context, t *tree) error {
	want := rows{}
	t.want(want)
	var have rows
	err := onerow.InTx(ctx, w.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		have, err = read(ctx, tx, t)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) || onerow.Retryable(err) {
		return nil // it is read again at the end
	}
	if err != nil {
		return fmt.Errorf("look: %w", err)
	}
	for _, d := range have.differences(want) {
		w.found.Add(brokenRow, "job %d has come back: %s", t.job, d)
	}
	return nil
}
