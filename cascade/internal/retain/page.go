package retain

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// duePage is a page of what is due.
type duePage struct {
	deletions []queue.Deletion // of the rows that are to be queued
	ages      []string         // theirs
	passed    int              // rows that are not
	last      *graph.DueRow    // nil: nothing is behind it
}

// page reads a page of what is due. Two statements, one where nothing is.
func (r *Retainer) page(ctx context.Context, n *graph.Node, d *graph.Due, at time.Time, after *graph.DueRow, size int) (page duePage, err error) {
	rows, err := d.Page(ctx, r.db, at, after, size)
	if err != nil || len(rows) == 0 {
		return page, err
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		if ids[i], err = n.Tables[0].Key.Encode(row.Key); err != nil {
			return page, err
		}
	}
	stay, err := r.staying(ctx, n.Name, ids, time.Duration(d.Policy.Keep))
	for i, id := range ids {
		if stay[id] {
			page.passed++
			continue
		}
		page.deletions, page.ages = append(page.deletions, queue.Deletion{Resource: n.Name, ResourceID: id, From: queue.FromDue}), append(page.ages, rows[i].Age)
	}
	if len(rows) == size {
		page.last = &rows[size-1]
	}
	return page, err
}

// sqlDueStays reads, of the rows of a page, those that are not queued, see package cascade: by the unique key
// one_open, by the archive's index (resource, resource_id), and by one_row's part of each job there. In one
// statement, so that a job that moves between the two tables is seen in one of them. It only keeps rows from
// being queued in vain: the constraint and the job's first batch decide.
const (
	sqlDueOpen  = `SELECT resource_id FROM onerow_job FORCE INDEX (one_open) WHERE resource = ? AND resource_id IN (`
	sqlDueStays = `) UNION ALL SELECT a.resource_id FROM onerow_job_archive AS a FORCE INDEX (resource) WHERE a.resource = ? AND (a.state = 'dead'
  OR ` + work.TakenBack + ` AND a.finished_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
  OR EXISTS (SELECT 1 FROM onerow_parked AS p FORCE INDEX (one_row) WHERE p.job_id = a.id)) AND a.resource_id IN (`
)

func (r *Retainer) staying(ctx context.Context, resource string, ids []string, keep time.Duration) (map[string]bool, error) {
	stay := map[string]bool{}
	bytes := make([]any, len(ids))
	for i, id := range ids {
		bytes[i] = []byte(id)
	}
	args := slices.Concat([]any{resource}, bytes, []any{resource, keep.Microseconds()}, bytes)
	marks := ident.Params(len(ids))
	err := onerow.Query(ctx, r.db, sqlDueOpen+marks+sqlDueStays+marks+")", args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		stay[id] = true
		return err
	})
	return stay, err
}

// Rows is what of a policy is due.
type Rows struct {
	Resource string `json:"resource"`
	// Policy is the plan's.
	Policy schema.Retention `json:"-"`
	// Due is how many rows are due, of each table so many at most as were to be counted; those that are not
	// queued for the reasons that package cascade names are among them.
	Due int64 `json:"due"`
	// Undated are rows, of those that were counted, that stay: their date has no month or no day, as
	// 2020-00-10.
	Undated int64 `json:"undated,omitempty"`
	// Oldest is the smallest value of the column that is due, as a clock in the policy's zone shows it; of a
	// TIMESTAMP, in UTC. Empty: nothing is due.
	Oldest string `json:"oldest,omitempty"`
	// Open says whether the window is open, and Next, if not, when it opens.
	Open bool      `json:"open"`
	Next time.Time `json:"next,omitzero"`
}

// Due counts what is due, most rows of each table at most. One statement and one per table.
func (r *Retainer) Due(ctx context.Context, resource string, most int) (Rows, error) {
	_, due, err := r.node(ctx, resource)
	if err != nil {
		return Rows{}, err
	}
	at, err := dbtime.Now(ctx, r.db)
	if err != nil {
		return Rows{}, err
	}
	rows := Rows{Resource: resource, Policy: due[0].Policy}
	if rows.Open, rows.Next = rows.Policy.Open(at); rows.Open {
		rows.Next = time.Time{}
	}
	for _, d := range due {
		n, undated, oldest, err := d.Count(ctx, r.db, at, most)
		if err != nil {
			return Rows{}, err
		}
		if oldest != "" && (rows.Oldest == "" || oldest < rows.Oldest) {
			rows.Oldest = oldest
		}
		rows.Due, rows.Undated = rows.Due+n, rows.Undated+undated
	}
	return rows, nil
}

// DryRun reads all that is due and queues nothing. It calls fn with each row that would be queued, and when
// its age began; an error of fn ends the look. It returns how many rows it has passed by. Two statements per
// 500 rows.
func (r *Retainer) DryRun(ctx context.Context, resource string, fn func(id, age string) error) (passed int, err error) {
	n, due, err := r.node(ctx, resource)
	if err != nil {
		return 0, err
	}
	at, err := dbtime.Now(ctx, r.db)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		var after *graph.DueRow
		for more := true; more; more = after != nil {
			page, err := r.page(ctx, n, d, at, after, retentionPage)
			if err != nil {
				return passed, err
			}
			passed, after = passed+page.passed, page.last
			for i, del := range page.deletions {
				if err := fn(del.ResourceID, d.Shown(page.ages[i])); err != nil {
					return passed, err
				}
			}
		}
	}
	return passed, nil
}
