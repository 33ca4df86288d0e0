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
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
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
	if s == nil {
		return nil
	}
	columns := strings.Join(e.Declared.Columns, ", ")
	return a.behind(ctx, needed{
		node: e.Parent, refers: s.Refers(), unless: "NOT " + s.WasLost() + a.notRoot(),
		equal: func(t *graph.Table) string {
			if s.AsText {
				return s.Columns.Equal("c", e.Referred(t), "k")
			}
			return e.Referred(t).Equal("k", s.Columns, "c")
		},
		only: e.Child.Above == 1 && !e.Detach,
		open: fmt.Sprintf("the row of %s to which (%s) refers has not come back", e.Parent.Name, columns),
		lost: fmt.Sprintf("rows of %s that went with it are not in the trash any more, and the one to which (%s) refers is one of them, or may be", e.Parent.Name, columns),
	})
}

// itself notes the rows that were deleted after their references were cut and have not come back: a row that
// has the key is somebody else's, whose reference nobody cut.
func (a *attempt) itself(ctx context.Context) error {
	n := a.table.Node
	if a.step.Cut == nil {
		return nil
	}
	return a.behind(ctx, needed{
		node: n, refers: "1 = 1", unless: "1 = 1",
		equal: func(t *graph.Table) string { return t.Key.Equal("k", a.table.Key, "c") },
		open:  "it was deleted later and has not come back",
		lost:  fmt.Sprintf("rows of %s that were deleted later are not in the trash any more, and it is one of them, or may be", n.Name),
	})
}

// needed is what must be back before rows of a step.
type needed struct {
	node       *graph.Node
	refers     string                      // which rows of the step, under the alias c, need one
	unless     string                      // of these, those that need one that the job has taken
	only       bool                        // the job has taken all that these need
	equal      func(t *graph.Table) string // the row k, in the trash of a table of the node, is the one
	open, lost string                      // why a row stays
}

// behind notes the rows of the step whose needed row has not come back, or may not have.
func (a *attempt) behind(ctx context.Context, n needed) error {
	p := a.progress
	if p.job.taken(n.node) == 0 {
		return nil
	}
	var open []int64
	kept := true
	for _, t := range n.node.Tables {
		open = append(open, p.open[t.Name]...)
		kept = kept && (t.Trash != nil || p.left[t.Name]+p.back[t.Name] == 0)
	}
	why, all := n.open, "" // the rows that stay whatever is in the steps that are open
	switch back := of(n.node, p.back); {
	case !kept || p.job.taken(n.node) > of(n.node, p.left)+back:
		// Nobody knows the keys of all that went: only behind what is back for sure.
		why, all = n.lost, n.unless
		if back > 0 && kept {
			steps, err := a.returned(ctx, n.node)
			if err != nil {
				return err
			}
			if len(steps) > 0 {
				all += " AND NOT " + a.inTrash(n, steps)
			}
		}
	case len(open) == 0:
		return nil
	case back == 0 && p.job.Ended && !p.job.Skipped && n.only:
		all = n.unless
	}
	if len(open) == 0 {
		return a.stayWhere(ctx, n.refers+" AND "+all, why)
	}
	for part := range slices.Chunk(open, stepsAtOnce) {
		where := a.inTrash(n, part)
		if all != "" {
			where = "(" + all + " OR " + where + ")"
		}
		if err := a.stayWhere(ctx, n.refers+" AND "+where, why); err != nil {
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

// inTrash is the condition that the row that a row under the alias c needs is one of those that some steps
// have kept, by the primary key of the trash tables.
func (a *attempt) inTrash(n needed, steps []int64) string {
	list := make([]string, len(steps))
	for i, step := range steps {
		list[i] = strconv.FormatInt(step, 10)
	}
	var any []string
	for _, t := range n.node.Tables {
		if t.Trash != nil {
			any = append(any, fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS k FORCE INDEX (PRIMARY) WHERE k.%s = %d AND k.%s IN (%s) AND %s)",
				t.Trash.From, ident.ColTrashJob, a.step.Job, ident.ColTrashStep, strings.Join(list, ", "), n.equal(t)))
		}
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

// stayWhere notes the rows of the step that meet a condition.
func (a *attempt) stayWhere(ctx context.Context, where, why string) error {
	return a.stayAll(ctx, "SELECT "+a.table.Key.Select("c")+" FROM "+a.table.Trash.From+" AS c FORCE INDEX (PRIMARY) WHERE "+a.step.In("c")+" AND "+where+" LOCK IN SHARE MODE", why)
}

// stayAll notes the rows whose keys a statement reads.
func (a *attempt) stayAll(ctx context.Context, query, why string) error {
	keys, err := a.table.ReadKeys(ctx, a.tx, query, nil)
	for _, key := range keys {
		a.stay(key, why)
	}
	return err
}
