package work

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
)

// age is when a row's age began, and when it was made, in microseconds since 1970.
type age struct{ began, made sql.NullString }

// ageColumns reads both, of a table that has them, if they are wanted.
func ageColumns(t *graph.Table, wanted bool) string {
	began, made := "NULL", "NULL"
	if wanted && t.Due != nil && t.Due.Err == nil {
		began = t.Due.Age
	}
	if wanted && t.Node.Managed {
		made = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + ident.ColCreatedAt + ")"
	}
	return began + ", " + made
}

// sqlDueOnes asks about many rows what dueMore asks about one: which of them people have asked to delete, and
// of which somebody has taken a deletion back, at whatever time, by the same indexes; the clock; and when the
// jobs' deletions were logged, by the primary key. Nothing is locked.
func sqlDueOnes(marks string) string {
	return `SELECT DISTINCT 'left', d.resource_id, 0 FROM onerow_deletion AS d FORCE INDEX (resource)
 WHERE d.resource = ? AND d.deleted_from <> '` + queue.FromDue + `' AND d.resource_id IN (` + marks + `)
UNION ALL SELECT 'left', a.resource_id, 0 FROM onerow_job_archive AS a FORCE INDEX (resource)
 WHERE a.resource = ? AND ` + TakenBack + ` AND a.resource_id IN (` + marks + `)
UNION ALL SELECT 'now', '', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
UNION ALL SELECT 'logged', d.resource_id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', d.requested_at)
 FROM onerow_deletion AS d WHERE d.id IN (` + marks + `)`
}

// keepUndue keeps those of several locked roots that the plan's retention has found and that are not due any
// more, or of which pass.isDue has more to ask. One statement, none where retention has found none.
func (e *eraser) keepUndue(ctx context.Context, tx *onerow.Tx) error {
	var ids, deletions []any
	byID := map[string]*root{}
	for i := range e.roots {
		if r := &e.roots[i]; r.age != nil {
			byID[r.ResourceID] = r
			ids, deletions = append(ids, []byte(r.ResourceID)), append(deletions, r.DeletionID)
		}
	}
	if len(byID) == 0 {
		return nil
	}
	marks := ident.Params(len(ids))
	resource := []any{e.node.Name}
	var now int64
	logged := map[*root]int64{}
	err := onerow.Query(ctx, tx, sqlDueOnes(marks), slices.Concat(resource, ids, resource, ids, deletions), func(found *sql.Rows) error {
		var what string
		var id []byte
		var at sql.NullInt64
		if err := found.Scan(&what, &id, &at); err != nil {
			return err
		}
		r, asked := byID[string(id)]
		switch {
		case what == "now":
			now = at.Int64
		case asked && what == "logged" && at.Valid:
			logged[r] = at.Int64
		case asked:
			r.keepForLater = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range byID {
		var made int64
		if r.age.made.Valid {
			if made, err = strconv.ParseInt(r.age.made.String, 10, 64); err != nil {
				return err
			}
		}
		due, at := r.locked.table.Due, time.UnixMicro(now)
		logged, known := logged[r]
		younger := known && r.age.made.Valid && logged < made // than its deletion, so it is another row
		r.keepForLater = r.keepForLater || younger || due == nil || due.Err != nil || !due.IsDue(r.age.began, due.Cutoff(at))
	}
	return nil
}
