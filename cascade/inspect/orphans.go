package inspect

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// Orphan is a missing row that rows of a table refer to by an edge of the plan whose
// rows go with the row above: it is in none of its tables, and no job is open for it.
type Orphan struct {
	// Resource is what the missing row would be a row of.
	Resource string `json:"resource"`
	// ID is the missing row's id, encoded, see [onerow.EncodeKey]. Empty: the rows do not
	// refer to the primary key, or what they hold is no key of the resource.
	ID string `json:"id,omitempty"`
	// Table and Columns are where the reference is; Values is what is there, as SQL.
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Values  string   `json:"values"`
	// Rows is how many rows of the table hold it; at least as many where AtLeast is set.
	Rows    int64 `json:"rows"`
	AtLeast bool  `json:"at_least,omitempty"`
	// ReportOnly says why no cascade is queued for it. Empty: one can be. So what the rows
	// hold is no key, or is what many write for no reference at all, such as 0; or a job has left
	// parked or skipped rows there, or is dead.
	ReportOnly string `json:"report_only,omitempty"`
}

// OrphanOptions say where [Orphans] looks. The zero value means everywhere.
type OrphanOptions struct {
	// Table limits the search to one table, or to the tables of one resource.
	Table string
	// Page is how many index entries a statement reads at most. Default 1000, maximum 10,000.
	Page int
	// Limit is how many orphans are reported at most. 0: all.
	Limit int
	// After continues an earlier search behind the position that it gave to OnPage.
	After string
	// OnPage is called after each page whose orphans have all been reported, with the table and edge that are
	// read, as in "task: project_id → project", how many index entries of these were read so far, and the
	// position, for After, which is empty at the end of the search.
	OnPage func(edge string, entries int64, next string)
}

const (
	defaultOrphanPage = 1000
	maxOrphanPage     = 10_000
)

// Orphans reports missing rows that other rows hang below, by the delete-edges of the
// plan that no foreign key guards: with one there can be none. It changes nothing.
//
// Two kinds of foreign keys guard nothing on MySQL 9.7, and are searched on every server: one from a table to
// itself that shares a column with what it refers to, as (tenant, up) with (tenant, id); and one of which an
// index has a further column that may be NULL, as (project_id, deleted_at).
//
// Each page reads at most Page entries of the child's index on the edge, in its order,
// and looks each different value up in all tables of the parent in the same statement,
// so that a row that moves between its tables is seen in one of them. Values that
// fill more than a page are skipped to their end. The cost of a page does not grow with
// the tables, and the search can be continued behind any page.
//
// A report is true of the moment of its page. fn is called with no statement open; its
// error ends the search and is returned. Statements: 10 of the catalog, then 1 per page,
// and per 500 missing rows of a page 1 for their jobs.
// Where text refers to keys of another type, 1 more per 500 asks for the rows above, and up to
// 500 where a collation takes keys for each other.
// Errors: [schema.ErrInvalidPlan], [schema.ErrUnknownResource], [queue.ErrInvalid] for a position that
// is none of this search, and what workers say of a plan that does not fit the tables. A table that lacks the
// index is refused.
func Orphans(ctx context.Context, db onerow.DB, plan schema.Plan, o OrphanOptions, fn func(Orphan) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cascade: look for orphans: %w", err)
		}
	}()
	if o.Page <= 0 {
		o.Page = defaultOrphanPage
	}
	o.Page = min(o.Page, maxOrphanPage)
	scans, err := orphanScans(ctx, db, plan, o.Table)
	if err != nil {
		return err
	}
	after, err := startAt(&scans, o.After)
	if err != nil {
		return err
	}
	reported := 0
	for i := range scans {
		s := &scans[i]
		for entries := int64(0); ; {
			page, err := s.page(ctx, db, after, o.Page)
			if err != nil {
				return fmt.Errorf("%q: %w", s.String(), err)
			}
			for _, found := range page.orphans {
				if o.Limit > 0 && reported == o.Limit {
					return nil
				}
				if err := fn(found); err != nil {
					return err
				}
				reported++
			}
			entries += page.entries
			after = page.last
			last := page.entries < int64(o.Page)
			if o.OnPage != nil {
				next := ""
				switch {
				case !last:
					next = s.position(after)
				case i+1 < len(scans):
					next = scans[i+1].position(nil)
				}
				o.OnPage(s.String(), entries, next)
			}
			if last {
				break
			}
		}
		after = nil
	}
	return nil
}
