package inspect

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// sqlOpenJobs and sqlKeptJobs read by the unique key one_open, and by the archive's index (resource,
// resource_id) and one_row's part of each job that it finds there. One statement for both, so
// that a job that moves between the two tables is seen in one of them.
const (
	sqlOpenJobs = `SELECT resource_id, id, 'open' FROM onerow_job WHERE resource = ? AND resource_id IN (`
	sqlKeptJobs = `) UNION ALL SELECT a.resource_id, a.id, a.state FROM onerow_job_archive AS a
WHERE a.resource = ? AND (a.state = 'dead' OR EXISTS (SELECT 1 FROM onerow_parked AS p WHERE p.job_id = a.id)) AND a.resource_id IN (`
)

// idsAtOnce is how many missing rows a statement, and a transaction that queues their cascades, has.
const idsAtOnce = 500

// jobsOfMissing are the jobs about missing rows, by the rows' ids.
type jobsOfMissing struct {
	open map[string]bool   // a job that will delete what is below
	kept map[string]string // why a person has to decide: a job has left rows on purpose, or is dead
}

// findJobs looks for jobs about missing rows. One statement per 500 ids.
func findJobs(ctx context.Context, db onerow.DB, resource string, ids []string) (jobsOfMissing, error) {
	found, newest := jobsOfMissing{map[string]bool{}, map[string]string{}}, map[string]int64{}
	for chunk := range slices.Chunk(ids, idsAtOnce) {
		args := []any{resource}
		for _, id := range chunk {
			args = append(args, []byte(id))
		}
		marks := ident.Params(len(chunk))
		err := onerow.Query(ctx, db, sqlOpenJobs+marks+sqlKeptJobs+marks+")", append(args, args...), func(rows *sql.Rows) error {
			var id, state string
			var job int64
			if err := rows.Scan(&id, &job, &state); err != nil {
				return err
			}
			if state == "open" {
				found.open[id] = true
				return nil
			}
			if job <= newest[id] {
				return nil
			}
			newest[id] = job
			found.kept[id] = fmt.Sprintf("job %d has left parked or skipped rows below it; see cascade-worker parked list --job %d, and retry there what should go", job, job)
			if queue.State(state) == queue.Dead {
				found.kept[id] = fmt.Sprintf("job %d for it is dead; put right what stopped it, then retry that job", job)
			}
			return nil
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// present asks all tables of a resource, in one statement per 500 ids, which rows are there. Each is known by
// the id that was asked for, though the row may spell it otherwise.
func present(ctx context.Context, db onerow.DB, n *graph.Node, ids []string) (map[string]bool, error) {
	there, c := map[string]bool{}, n.Tables[0].Key
	for chunk := range slices.Chunk(ids, idsAtOnce) {
		keys, parts := make([]rowkey.Key, len(chunk)), make([]string, len(n.Tables))
		for i, id := range chunk {
			var err error
			if keys[i], err = c.Decode(id); err != nil {
				return nil, err
			}
		}
		for i, t := range n.Tables {
			parts[i] = fmt.Sprintf("SELECT %s FROM %s WHERE %s", c.Select(""), t.From, c.In("", keys))
		}
		found, strange := map[rowkey.Key]bool{}, false
		err := graph.ReadColumns(ctx, db, c, strings.Join(parts, " UNION ALL "), nil, func(key rowkey.Key, _ []sql.NullString) error {
			found[key] = true
			strange = strange || !slices.Contains(keys, key)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, id := range chunk {
			if there[id] = found[keys[i]] || strange; !strange || len(chunk) == 1 {
				continue
			}
			// A collation takes two spellings for one: ask for each by itself.
			one, err := present(ctx, db, n, []string{id})
			if err != nil {
				return nil, err
			}
			there[id] = one[id]
		}
	}
	return there, nil
}

// dropSettled takes those out whose row is there, where the page could not ask that, and those for which a
// job is open, which will delete their rows; it lets those be reported only whose rows were left on purpose.
func (s *orphanScan) dropSettled(ctx context.Context, db onerow.DB, orphans []Orphan) ([]Orphan, error) {
	var ids []string
	for _, o := range orphans {
		if o.ID != "" {
			ids = append(ids, o.ID)
		}
	}
	if s.AsText {
		there, err := present(ctx, db, s.Edge.Parent, ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return there[id] })
		orphans = slices.DeleteFunc(orphans, func(o Orphan) bool { return there[o.ID] })
	}
	found, err := findJobs(ctx, db, s.Edge.Parent.Name, ids)
	orphans = slices.DeleteFunc(orphans, func(o Orphan) bool { return found.open[o.ID] })
	for i := range orphans {
		if why := found.kept[orphans[i].ID]; why != "" {
			orphans[i].ReportOnly = why
		}
	}
	return orphans, err
}
