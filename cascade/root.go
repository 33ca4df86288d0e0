package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// place is where the root row is: in a table, or in none.
type place struct {
	found    bool
	table    table
	deletion sql.NullInt64
	asset    sql.NullString
	owner    sql.NullInt64
}

// fruitlessPasses is how many passes may delete nothing although something is left,
// because it moves or changes, before the job counts as failed.
const fruitlessPasses = 5

// work works one job to its end. The error is nil when the job is done.
func (w *Worker) work(ctx context.Context, job Job) error {
	n, ok := w.tree[job.Resource]
	if !ok {
		return fmt.Errorf("%w: job %d is for %q; this worker's plan has %q", schema.ErrUnknownResource, job.ID, job.Resource, w.plan.Names())
	}
	root, err := rootID(job)
	if err != nil {
		return err
	}
	r := &run{Worker: w, job: job, node: n, root: root, counts: counts{}, stale: w.cfg.OnProgress != nil}
	for fruitless := 0; fruitless < fruitlessPasses; {
		before := r.deleted
		done, err := r.pass(ctx)
		if done || err != nil {
			return err
		}
		if fruitless++; r.deleted > before {
			fruitless = 0
		}
	}
	return fmt.Errorf("%w: below %s %s; %d passes found rows and deleted none", ErrStuck, job.Resource, job.ResourceID, fruitlessPasses)
}

func rootID(job Job) (int64, error) {
	parts, err := onerow.DecodeKey(job.ResourceID)
	if err != nil {
		return 0, fmt.Errorf("cascade: the id of job %d: %w", job.ID, err)
	}
	if len(parts) == 1 {
		if id, ok := parts[0].(int64); ok {
			return id, nil
		}
	}
	return 0, fmt.Errorf("cascade: the id of job %d: %w: %q is no integer", job.ID, onerow.ErrKey, job.ResourceID)
}

// pass goes once through everything below the root, and tries to end the job.
func (r *run) pass(ctx context.Context) (done bool, err error) {
	if r.place, err = r.findRoot(ctx); err != nil {
		return false, err
	}
	if err := r.below(ctx, r.node, []int64{r.root}); err != nil {
		return false, err
	}
	if r.place.asset.String != "" {
		if err := r.deleteAssets(ctx, []row{{asset: r.place.asset}}); err != nil {
			return false, err
		}
	}
	for {
		full := false
		err := r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, c counts) (err error) {
			done, full, err = r.finish(ctx, tx, c)
			return err
		})
		if err != nil || !full {
			return done, err
		}
		if err := r.clear(ctx, r.node, []int64{r.root}); err != nil {
			return false, err
		}
	}
}

// rootSQL reads where the root row is, by its primary key.
func (n *node) rootSQL(t table) string {
	deletion, asset, owner := "NULL", "NULL", "NULL"
	if !t.active {
		deletion = schema.ColDeletionID
	}
	if n.res.Asset != "" {
		asset = schema.Quote(n.res.Asset)
	}
	if n.res.Quota.Flag != "" {
		owner = schema.Quote(n.res.Owner)
	}
	return fmt.Sprintf("SELECT %t, %s, %s, %s FROM %s WHERE %s = ?", t.active, deletion, asset, owner, schema.Quote(t.name), t.id)
}

// findRoot looks for the root row in both tables, in one statement: a row that moves
// is in one of them. If it is in none it is gone for good, for ids are not used again.
func (r *run) findRoot(ctx context.Context) (place, error) {
	query, args := "", []any{}
	for i, t := range r.node.tables {
		if i > 0 {
			query += " UNION ALL "
		}
		query += r.node.rootSQL(t)
		args = append(args, r.root)
	}
	var p place
	err := r.again(ctx, func() (err error) {
		p, err = r.readPlace(ctx, r.db, query, args)
		return err
	})
	return p, err
}

// readPlace also refuses a row that is hidden by another deletion than the job's.
func (r *run) readPlace(ctx context.Context, db onerow.DB, query string, args []any) (place, error) {
	var p place
	var active bool
	err := onerow.QueryRow(ctx, db, query, args, &active, &p.deletion, &p.asset, &p.owner)
	if errors.Is(err, sql.ErrNoRows) {
		return place{}, nil
	}
	if err != nil {
		return place{}, err
	}
	p.found, p.table = true, r.node.tables[0]
	if !active {
		p.table = r.node.tables[1]
	}
	if p.deletion.Valid && p.deletion.Int64 != r.job.DeletionID {
		return place{}, fmt.Errorf("%w: %s %s is hidden by deletion %d, job %d belongs to deletion %d; nothing was deleted by this attempt",
			ErrOtherDeletion, r.job.Resource, r.job.ResourceID, p.deletion.Int64, r.job.ID, r.job.DeletionID)
	}
	return p, nil
}

// finish is the last batch: with the root row locked where it was seen, delete what
// leaves it has, look for anything else below it, delete it, and move the job to
// the archive. It is not done when something is left, or when the root row has moved
// or changed meanwhile.
func (r *run) finish(ctx context.Context, tx *onerow.Tx, c counts) (done, full bool, err error) {
	if r.place.found {
		now, err := r.readPlace(ctx, tx, r.node.rootSQL(r.place.table)+" FOR UPDATE", []any{r.root})
		if err != nil {
			return false, false, err
		}
		if !now.found || now.asset.String != r.place.asset.String {
			return false, false, nil
		}
		r.place.owner = now.owner
	}
	if full, err = r.leaves(ctx, tx, r.node, []int64{r.root}, c); full || err != nil {
		return false, full, err
	}
	held, err := r.above(ctx, tx, r.node, []int64{r.root})
	if err != nil || len(held) > 0 {
		return false, false, err
	}
	if r.place.found {
		if _, err := tx.ExecContext(ctx, r.place.table.remove+in([]int64{r.root})); err != nil {
			return false, false, err
		}
		if r.place.table.active && r.place.owner.Valid {
			if err := quota.Mark(ctx, tx, r.node.res.Name, r.place.owner.Int64); err != nil {
				return false, false, err
			}
		}
	}
	return true, false, r.archive(ctx, tx, Done)
}
