package restore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// Missing is what of a table, or of a resource, does not come back.
type Missing struct {
	Table            string
	Rows, References int64
	Column           string // its values alone
	Why              string
}

// account is what a job has deleted of a node and what has become of it: rows, and references that it cut.
type account struct{ deleted, left, expired, back [2]int64 }

const (
	rows       = 0
	references = 1
)

// sqlAccount reads the job's part of the primary key.
const sqlAccount = `SELECT table_name, cut <> '', step > 0, expires_at > UTC_TIMESTAMP(6), SUM(kept_rows), MAX(error) FROM onerow_trash FORCE INDEX (PRIMARY)
WHERE job_id = ? AND step <> 0 AND step > ` + trash.StepEnded + ` GROUP BY 1, 2, 3, 4`

// ledger is the accounts of a job, by the node's name or, of a table that the plan lacks, by the table's; and
// why rows of a step could not come back.
type ledger struct {
	graph    *graph.Graph
	accounts map[string]*account
	why      map[string]string
}

// name is the one under which a table has its account.
func (l *ledger) name(table string) string {
	if t := l.graph.Table(table); t != nil {
		return t.Node.Name
	}
	return table
}

func (l *ledger) of(table string) *account {
	name := l.name(table)
	if l.accounts[name] == nil {
		l.accounts[name] = &account{}
	}
	return l.accounts[name]
}

// readLedger reads what has become of the rows of a job, and of the references that it cut. One statement.
func readLedger(ctx context.Context, db onerow.DB, g *graph.Graph, job *Job, detached map[string]int64) (*ledger, error) {
	l := &ledger{g, map[string]*account{}, map[string]string{}}
	for table, n := range job.Deleted {
		l.of(table).deleted[rows] += n
	}
	for table, n := range detached {
		l.of(table).deleted[references] += n
	}
	if job.Ended {
		l.of(job.Node.Tables[0].Name).deleted[rows]++
	}
	return l, onerow.Query(ctx, db, sqlAccount, []any{job.ID}, func(r *sql.Rows) error {
		var table []byte
		var cut, step, alive bool
		var n int64
		var reason sql.NullString
		if err := r.Scan(&table, &cut, &step, &alive, &n, &reason); err != nil {
			return err
		}
		a, kind := l.of(string(table)), rows
		if cut {
			kind = references
		}
		switch {
		case !step:
			a.back[kind] += n
		case alive:
			a.left[kind] += n
			name := l.name(string(table))
			l.why[name] = cmp.Or(reason.String, l.why[name])
		default:
			a.expired[kind] += n
		}
		return nil
	})
}

// Look holds what has been deleted against what is back, and what is left in the trash: what is missing now,
// by table, or before a restore what it cannot bring back, as far as that is known; and why the root is not
// there, or nothing. One statement, and 1 more for each table of the root where that is not back.
func Look(ctx context.Context, db onerow.DB, g *graph.Graph, job *Job, detached map[string]int64, before bool) (all []Missing, root string, err error) {
	l, err := readLedger(ctx, db, g, job, detached)
	if err != nil {
		return nil, "", err
	}
	if a := l.accounts[job.Node.Name]; job.Ended && a.deleted[rows] > a.back[rows] {
		if root, err = rootMissing(ctx, db, job, before, a.back[rows] > 0 && a.deleted[rows] == a.left[rows]+a.expired[rows]+a.back[rows]); err != nil {
			return nil, "", err
		}
	}
	return l.missing(job, before), root, nil
}

// missing lists what is not back, with the reason.
func (l *ledger) missing(job *Job, before bool) (all []Missing) {
	unkept := func(name string) bool {
		n := l.graph.Nodes[name]
		return n == nil || !slices.ContainsFunc(n.Tables, func(t *graph.Table) bool { return t.Trash != nil })
	}
	say := func(name string, n [2]int64, why string) {
		if n[rows] > 0 || n[references] > 0 {
			all = append(all, Missing{Table: name, Rows: max(n[rows], 0), References: max(n[references], 0), Why: why})
		}
	}
	gone := map[string]string{}
	if job.Ended && !job.Skipped { // else rows above may never have gone
		gone = nothingBack(l.graph, l.accounts, unkept)
	}
	for _, name := range slices.Sorted(maps.Keys(l.accounts)) {
		a := l.accounts[name]
		switch above := gone[name]; {
		case !before:
			say(name, a.left, cmp.Or(l.why[name], "it was not tried yet"))
		case unkept(name):
			say(name, a.left, "the plan does not keep rows of "+name)
		case above != "":
			say(name, [2]int64{rows: a.left[rows]}, "the rows of "+above+" above them do not come back")
		}
		say(name, a.expired, "their time in the trash is over")
		lost := [2]int64{}
		for kind := range lost {
			lost[kind] = a.deleted[kind] - a.left[kind] - a.expired[kind] - a.back[kind]
		}
		if unkept(name) {
			say(name, lost, "the plan does not keep rows of "+name)
		} else {
			say(name, lost, "they are not in the trash: the plan did not keep them, their time was over and they were purged, or somebody has removed them")
		}
	}
	return all
}

// nothingBack are the nodes below another one, named, of which nothing comes back.
func nothingBack(g *graph.Graph, accounts map[string]*account, unkept func(string) bool) map[string]string {
	gone := map[string]string{}
	for found := true; found; {
		found = false
		for _, e := range g.Edges {
			a, child := accounts[e.Parent.Name], e.Child.Name
			if e.Detach || e.Child.Above != 1 || gone[child] != "" || a == nil || a.deleted[rows] == 0 {
				continue
			}
			if gone[e.Parent.Name] != "" || a.back[rows] == 0 && (unkept(e.Parent.Name) || a.left[rows] == 0) {
				gone[child], found = e.Parent.Name, true
			}
		}
	}
	return gone
}

// rootMissing looks for the copies of the root in the trash.
func rootMissing(ctx context.Context, db onerow.DB, job *Job, before, back bool) (why string, err error) {
	found := false
	for _, t := range job.Node.Tables {
		if t.Trash == nil {
			continue
		}
		query := "SELECT n.kept_rows > 0, n.expires_at > UTC_TIMESTAMP(6), n.error FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) JOIN onerow_trash AS n FORCE INDEX (PRIMARY) ON n.job_id = k." +
			ident.ColTrashJob + " AND n.step = k." + ident.ColTrashStep + " WHERE k." + ident.ColTrashJob + " = " + strconv.FormatInt(job.ID, 10) + " AND n.cut = '' AND " + t.Key.In("k", []rowkey.Key{job.Root})
		err := onerow.Query(ctx, db, query, nil, func(r *sql.Rows) error {
			var left, alive bool
			var reason sql.NullString
			if err := r.Scan(&left, &alive, &reason); err != nil {
				return err
			}
			switch found = true; {
			case !left:
				back = true
			case !alive:
				why = "its time in the trash is over"
			case !before:
				why = cmp.Or(reason.String, "it was not tried yet")
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	switch {
	case back && !found, back && why == "":
		return "", nil
	case !found:
		if back, err = rootBack(ctx, db, job); err != nil || back {
			return "", err
		}
		return "it is not in the trash", nil
	}
	return why, nil
}

// sqlLastBack reads from the end of the job's part of the primary key: whether the last of the steps that
// came back is that of one row, after which the job has kept nothing.
const sqlLastBack = `SELECT table_name, cut = '' AND kept_rows = 1 AND NOT EXISTS (SELECT 1 FROM onerow_trash AS l FORCE INDEX (PRIMARY) WHERE l.job_id = s.job_id AND l.step > -s.step)
FROM onerow_trash AS s FORCE INDEX (PRIMARY) WHERE job_id = ? AND step < 0 AND step > ` + trash.StepEnded + ` ORDER BY step LIMIT 1`

// rootBack says whether the root came back, of which the copy was purged since: it was the last to go.
func rootBack(ctx context.Context, db onerow.DB, job *Job) (bool, error) {
	var table []byte
	var back bool
	err := onerow.QueryRow(ctx, db, sqlLastBack, []any{job.ID}, &table, &back)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return back && slices.ContainsFunc(job.Node.Tables, func(t *graph.Table) bool { return t.Name == string(table) }), err
}

// Dropped are the values in the trash that a restore loses, for their columns are gone since. One statement
// for each such column.
func Dropped(ctx context.Context, db onerow.DB, g *graph.Graph, job int64) (all []Missing, err error) {
	for _, name := range slices.Sorted(maps.Keys(g.Nodes)) {
		for _, t := range g.Nodes[name].Tables {
			if t.Trash == nil {
				continue
			}
			for _, column := range t.Trash.Dropped {
				var n int64
				query := "SELECT COUNT(k." + ident.Quote(column) + ") FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) WHERE k." + ident.ColTrashJob + " = " + strconv.FormatInt(job, 10)
				if err := onerow.QueryRow(ctx, db, query, nil, &n); err != nil {
					return nil, err
				}
				if n > 0 {
					all = append(all, Missing{Table: t.Name, Rows: n, Column: column, Why: fmt.Sprintf("%s has no column %s any more", t.Name, column)})
				}
			}
		}
	}
	return all, nil
}
