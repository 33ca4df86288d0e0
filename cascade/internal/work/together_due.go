package work

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// aged is when a row's age began, and when it was made, in microseconds since 1970.
type aged struct{ age, made sql.NullString }

// agedColumns reads both, of a table that has them.
func agedColumns(t *graph.Table) string {
	age, made := "NULL", "NULL"
	if t.Due != nil && t.Due.Err == nil {
		age = t.Due.Age()
	}
	if t.Node.Managed {
		made = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + schema.ColCreatedAt + ")"
	}
	return age + ", " + made
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

// stillDue leaves locked rows that the plan's retention has found and that are not due any more, or of which
// pass.due has more to ask. One statement, none where retention has found none.
func (b *Bundle) stillDue(ctx context.Context, tx *onerow.Tx, t *graph.Table, rows map[int]aged) error {
	if len(rows) == 0 {
		return nil
	}
	var ids, deletions []any
	byID := map[string]int{}
	for i := range rows {
		target := b.targets[i]
		byID[target.ResourceID] = i
		ids, deletions = append(ids, []byte(target.ResourceID)), append(deletions, target.DeletionID)
		b.left[i] = t.Due == nil || t.Due.Err != nil
	}
	marks := strings.Repeat(", ?", len(rows))[2:]
	args := append(append([]any{b.targets[0].Resource}, ids...), append([]any{b.targets[0].Resource}, ids...)...)
	var now int64
	logged := map[int]int64{}
	err := onerow.Query(ctx, tx, sqlDueOnes(marks), append(args, deletions...), func(found *sql.Rows) error {
		var what string
		var id []byte
		var at sql.NullInt64
		if err := found.Scan(&what, &id, &at); err != nil {
			return err
		}
		i, ours := byID[string(id)]
		switch {
		case what == "now":
			now = at.Int64
		case ours && what == "logged" && at.Valid:
			logged[i] = at.Int64
		case ours:
			b.left[i] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, row := range rows {
		var made int64
		if row.made.Valid {
			if _, err := fmt.Sscan(row.made.String, &made); err != nil {
				return err
			}
		}
		at, known := logged[i]
		b.left[i] = b.left[i] || known && row.made.Valid && at < made || !t.Due.IsDue(row.age, t.Due.Cutoff(time.UnixMicro(now)))
	}
	return nil
}
