package restore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// Job is what a restore has to know of the job.
type Job struct {
	ID      int64
	Root    rowkey.Key
	Node    *graph.Node      // of the root
	Ended   bool             // it was done once: the root is gone, and all below it
	Skipped bool             // but for rows that somebody has skipped, and those above them
	Deleted map[string]int64 // rows by table, the root's own row not among them
}

// taken is how many rows of a node the job has deleted.
func (j *Job) taken(n *graph.Node) (rows int64) {
	for _, t := range n.Tables {
		rows += j.Deleted[t.Name]
	}
	if n == j.Node && j.Ended {
		rows++
	}
	return rows
}

// progress is what has become of the rows of a job, as far as the transaction has got.
type progress struct {
	job  *Job
	open map[string][]int64 // by table, the steps whose rows were tried or have expired, and are not back
	left map[string]int64   // by table, rows in the trash that are not back
	back map[string]int64
}

// sqlProgress reads the job's part of the primary key, and locks it against who purges: what has expired
// stays known until the batch ends.
const sqlProgress = `SELECT table_name, IF(step > 0 AND kept_rows > 0 AND (step >= ? OR expires_at <= UTC_TIMESTAMP(6)), step, 0) AS open_step,
  SUM(IF(step > 0, kept_rows, 0)), SUM(IF(step < 0, kept_rows, 0))
FROM onerow_trash FORCE INDEX (PRIMARY) WHERE job_id = ? AND step <> 0 AND step > ` + trash.StepEnded + ` AND cut = '' GROUP BY table_name, open_step LOCK IN SHARE MODE`

func readProgress(ctx context.Context, tx onerow.DB, job *Job, before int64) (*progress, error) {
	p := &progress{job: job, open: map[string][]int64{}, left: map[string]int64{}, back: map[string]int64{}}
	return p, onerow.Query(ctx, tx, sqlProgress, []any{before, job.ID}, func(rows *sql.Rows) error {
		var table []byte
		var step, left, back int64
		if err := rows.Scan(&table, &step, &left, &back); err != nil {
			return err
		}
		if step > 0 {
			p.open[string(table)] = append(p.open[string(table)], step)
		}
		p.left[string(table)] += left
		p.back[string(table)] += back
		return nil
	})
}

// of adds up what was counted for the tables of a node.
func of(n *graph.Node, rows map[string]int64) (sum int64) {
	for _, t := range n.Tables {
		sum += rows[t.Name]
	}
	return sum
}

// stepsAtOnce is how many steps a statement lists at most.
const stepsAtOnce = 1000

// below notes the rows that must not come back, because the row above over an edge has not, though a row may
// be there that has its key: it is somebody else's. They come back below what is back, or what the job never
// took.
func (a *attempt) below(ctx context.Context, e *graph.Edge) error {
	s := a.source(e)
	if s == nil || a.progress.job.taken(e.Parent) == 0 {
		return nil
	}
	p, above := a.progress, e.Parent
	var open []int64
	kept := true
	for _, t := range above.Tables {
		open = append(open, p.open[t.Name]...)
		kept = kept && (t.Trash != nil || p.left[t.Name]+p.back[t.Name] == 0)
	}
	columns := strings.Join(e.Declared.Columns, ", ")
	why := fmt.Sprintf("the row of %s to which (%s) refers has not come back", above.Name, columns)
	switch back := of(above, p.back); {
	case !kept || p.job.taken(above) > of(above, p.left)+back:
		// Nobody knows the keys of all that went: only below what is back for sure.
		where := " AND c." + schema.ColTrashLost + " = 0" + a.notRoot()
		why = fmt.Sprintf("rows of %s that went with it are not in the trash any more, and the one to which (%s) refers is one of them, or may be", above.Name, columns)
		if back > 0 && kept {
			steps, err := a.returned(ctx, above)
			if err != nil {
				return err
			}
			if len(steps) > 0 {
				where += " AND NOT " + a.inTrash(s, steps)
			}
		}
		return a.stayWhere(ctx, s, where, why)
	case len(open) == 0:
		return nil
	case back == 0 && p.job.Ended && !p.job.Skipped && e.Child.Above == 1 && !e.Detach:
		return a.stayWhere(ctx, s, " AND c."+schema.ColTrashLost+" = 0"+a.notRoot(), why) // its row above went with it, and none of those is back
	}
	for part := range slices.Chunk(open, stepsAtOnce) {
		if err := a.stayWhere(ctx, s, " AND "+a.inTrash(s, part), why); err != nil {
			return err
		}
	}
	return nil
}

// source is the table of the step, as it is seen over an edge, if the step has to do with the edge.
func (a *attempt) source(e *graph.Edge) *graph.Source {
	i := slices.IndexFunc(e.Sources, func(s *graph.Source) bool { return s.Table == a.table })
	if i < 0 || a.step.Cut != nil && !slices.Equal(a.step.Cut, e.Sources[i].Nulls) {
		return nil
	}
	return e.Sources[i]
}

// notRoot leaves out the root's own row: what is above it stays.
func (a *attempt) notRoot() string {
	if a.table.Node != a.progress.job.Node {
		return ""
	}
	return " AND NOT (" + a.table.Key.In("c", []rowkey.Key{a.progress.job.Root}) + ")"
}

// inTrash is the condition that the row to which a row under the alias c refers is one of those that some
// steps have kept, by the primary key of the trash tables.
func (a *attempt) inTrash(s *graph.Source, steps []int64) string {
	list := make([]string, len(steps))
	for i, step := range steps {
		list[i] = strconv.FormatInt(step, 10)
	}
	var any []string
	for _, t := range s.Edge.Parent.Tables {
		if t.Trash == nil {
			continue
		}
		equal := s.Edge.Referred(t).Equal("k", s.Columns, "c")
		if s.AsText {
			equal = s.Columns.Equal("c", s.Edge.Referred(t), "k")
		}
		any = append(any, fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS k FORCE INDEX (PRIMARY) WHERE k.%s = %d AND k.%s IN (%s) AND %s)",
			t.Trash.From, schema.ColTrashJob, a.step.Job, schema.ColTrashStep, strings.Join(list, ", "), equal))
	}
	if len(any) == 0 {
		return "(1 = 0)"
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// sqlReturned reads the job's part of the primary key.
const sqlReturned = `SELECT step, table_name FROM onerow_trash FORCE INDEX (PRIMARY) WHERE job_id = ? AND step > 0 AND kept_rows = 0 AND cut = '' LOCK IN SHARE MODE`

// returned are the steps of a node whose rows are all back, and still in the trash, too.
func (a *attempt) returned(ctx context.Context, n *graph.Node) (steps []int64, err error) {
	return steps, onerow.Query(ctx, a.tx, sqlReturned, []any{a.step.Job}, func(rows *sql.Rows) error {
		var step int64
		var table []byte
		err := rows.Scan(&step, &table)
		if slices.ContainsFunc(n.Tables, func(t *graph.Table) bool { return t.Name == string(table) }) {
			steps = append(steps, step)
		}
		return err
	})
}

// stayWhere notes the rows of the step that refer to a row over an edge and meet a condition.
func (a *attempt) stayWhere(ctx context.Context, s *graph.Source, where, why string) error {
	return a.stayAll(ctx, "SELECT "+a.table.Key.Select("c")+" FROM "+a.table.Trash.From+" AS c FORCE INDEX (PRIMARY) WHERE "+a.step.In("c")+" AND "+s.Refers()+where+" LOCK IN SHARE MODE", why)
}

// stayAll notes the rows whose keys a statement reads.
func (a *attempt) stayAll(ctx context.Context, query, why string) error {
	codec := a.table.Key
	values := make([]sql.NullString, codec.Width())
	dest := make([]any, len(values))
	for i := range values {
		dest[i] = &values[i]
	}
	return onerow.Query(ctx, a.tx, query, nil, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		key, ok := codec.Key(values)
		if !ok {
			return graph.ErrNullKey
		}
		a.stay(key, why)
		return nil
	})
}
