package work

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// place is where the root row is: in a table, or in none. Its key is always set.
type place struct {
	found  bool
	hidden bool // by the job's deletion
	table  *graph.Table
	row    graph.Row
}

// rootSQL reads the root row, by its primary key.
func (r *run) rootSQL(t *graph.Table) string {
	deletion := "NULL"
	if t.Node.Managed && !t.Active {
		deletion = schema.ColDeletionID
	}
	return fmt.Sprintf("SELECT %t, %s, %s FROM %s WHERE %s", t.Active, deletion, t.Columns(nil), t.From, t.Key.In("", []rowkey.Key{r.Root}))
}

// findRoot looks for the root row in both tables, in one statement: a row that moves
// is in one of them. If it is in none it is gone for good.
func (p *pass) findRoot(ctx context.Context) (place, error) {
	query := ""
	for i, t := range p.node.Tables {
		if i > 0 {
			query += " UNION ALL "
		}
		query += p.rootSQL(t)
	}
	var at place
	err := backoff.Read(ctx, func() (err error) {
		if at, err = p.readPlace(ctx, p.db, query); err == nil && at.found && !at.hidden && p.node.Managed {
			err = p.own(ctx, p.db, at.table)
		}
		return err
	})
	return at, err
}

// readPlace also refuses a row that another deletion than the job's hides, and refuses
// where two rows have this id. Of a root that is gone only the key is known, see graph.Node.Gone.
func (r *run) readPlace(ctx context.Context, db onerow.DB, query string) (place, error) {
	p := place{row: r.node.Gone(r.Root)}
	var active, two bool
	var deletion sql.NullInt64
	scanner := r.node.Tables[0].Scanner(nil, 0, &active, &deletion)
	err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		if two = p.found; two {
			return nil
		}
		v, _, err := scanner.Scan(rows)
		if err != nil {
			return err
		}
		p = place{found: true, table: r.node.Tables[0], row: v}
		if !active {
			p.table = r.node.Tables[1]
		}
		return nil
	})
	if err != nil {
		return place{}, err
	}
	switch {
	case two:
		return place{}, r.foreign("is in both of its tables, so two rows have this id")
	case deletion.Valid && deletion.Int64 != r.DeletionID:
		return place{}, r.foreign(fmt.Sprintf("is hidden by deletion %d, the job belongs to deletion %d", deletion.Int64, r.DeletionID))
	}
	p.hidden = deletion.Valid
	return p, nil
}

// lockRoot locks the root row where it was seen. It is not found if it has moved or
// names another asset since.
func (p *pass) lockRoot(ctx context.Context, tx *onerow.Tx) (place, error) {
	here, err := p.readPlace(ctx, tx, p.rootSQL(p.place.table)+" FOR UPDATE")
	if err != nil {
		return place{}, err
	}
	if here.found = here.found && here.row.Asset == p.place.row.Asset; !here.found {
		return here, nil
	}
	return here, lockGuards(ctx, tx, here.table, []graph.Row{here.row})
}

// finish is the end of the last batch: with the root row locked where it was seen, delete
// what leaves it has, look for anything else below it, delete it, and move the job to
// the archive. It is not done when something is left, or when the root row has moved
// or changed meanwhile.
func (p *pass) finish(ctx context.Context, tx *onerow.Tx, here place, budget *int64, t Tally) (done, full bool, err error) {
	root := p.place.row
	if p.place.found {
		if !here.found || p.parked[here.table.Name][here.row.Key] {
			return false, false, nil
		}
		root = here.row
	}
	if full, err = p.dropUnread(ctx, tx, p.node, []graph.Row{root}, budget, t); full || err != nil {
		return false, full, err
	}
	left, err := p.belowRoot(ctx, tx, root)
	if err != nil || left {
		p.held = p.held || left
		return false, false, err
	}
	if p.place.found {
		if err := p.cutSelf(ctx, tx, here.table, []graph.Row{root}); err != nil {
			return false, false, err
		}
		kept, err := p.keepRows(ctx, tx, here.table, nil, []rowkey.Key{root.Key})
		if err != nil {
			return false, false, err
		}
		n, err := onerow.Affected(ctx, tx, deleteSQL(here.table, []rowkey.Key{root.Key}))
		if err == nil && kept && n != 1 {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return false, false, err
		}
		if err := MarkOwners(ctx, tx, here.table, []graph.Row{root}); err != nil {
			return false, false, err
		}
	}
	if len(p.parked) > 0 {
		if _, err := tx.ExecContext(ctx, sqlForgetParked, p.JobID); err != nil {
			return false, false, err
		}
	}
	return true, false, p.lease.End(ctx, tx, false)
}

// sqlForgetParked deletes the rows of a job that is done, by the unique key one_row: somebody else has
// deleted what was parked.
const sqlForgetParked = `DELETE p FROM onerow_parked AS p FORCE INDEX (one_row) WHERE p.job_id = ? AND p.state = 'parked'`

// leftovers is the last batch of a job that has nothing left to delete but what is parked
// and what is above it. It is not done when an operator has unparked something meanwhile.
func (r *run) leftovers(ctx context.Context) (done bool, err error) {
	known := int64(0)
	for _, keys := range r.parked {
		known += int64(len(keys))
	}
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ Tally) (bool, error) {
		done = false
		parked, all, err := ParkedCounts(ctx, tx, r.JobID)
		if err != nil || all < known {
			return false, err
		}
		done = true // with none parked somebody has decided that all of it stays
		return true, r.lease.End(ctx, tx, parked > 0)
	})
	if err == nil && !done {
		err = r.loadParked(ctx)
	}
	return done, err
}
