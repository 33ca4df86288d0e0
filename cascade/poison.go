package cascade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/rowkey"
)

// notOfRows are the errors of the server that say nothing about rows: every row would
// meet them, now or until somebody does something. So are [serverStates], which end by themselves.
var notOfRows = []uint16{
	1064, 1149, // syntax
	1046, 1049, 1051, 1054, 1072, 1109, 1146, 1176, 1305, 1360, 1932, // something does not exist
	1044, 1045, 1095, 1142, 1143, 1227, 1356, 1370, 1410, 1449, 1698, // not allowed
	1036, 1209, // read only
	1034, 1035, 1194, 1195, // a broken table
	1153, 1197, 1390, 1436, // too large for the server's settings
	1267, 1270, 1271, // collations
	1235, 1296, // versions
}

// poisonous says whether an error of a batch may be about a single row of it: a foreign
// key that refuses, a trigger that objects, a value that does not fit.
func poisonous(err error) bool {
	var my *mysql.MySQLError
	var assets *assetsError
	return errors.As(err, &my) && !errors.As(err, &assets) && !transient(err) && !mysqlerr.MayRunAgain(err) && serverState(err) == nil && !slices.Contains(notOfRows, my.Number)
}

// batchError says where in a batch a statement failed.
type batchError struct {
	err   error
	edge  *edge // the statement was about all that is below the group over this edge
	group int
}

func (e *batchError) Error() string { return e.err.Error() }
func (e *batchError) Unwrap() error { return e.err }

// failed notes where, unless that is known.
func (r *run) failed(err error, e *edge, group int) error {
	if err == nil {
		return nil
	}
	var known *batchError
	if errors.As(err, &known) {
		known.group = group
		return err
	}
	return &batchError{err, e, group}
}

// isolate goes on after a batch that failed because of some row: it halves the batch until
// the row is found. What was deleted unread is read first. Each part is rehearsed again, so
// that what stays keeps its asset.
func (r *run) isolate(ctx context.Context, groups []group, last bool, cause error) (done bool, err error) {
	var where *batchError
	if errors.As(cause, &where) && where.edge != nil {
		return r.distrust(ctx, groups, last, where)
	}
	if !r.exact {
		r.exact = true
		defer func() { r.exact = false }()
	}
	switch {
	case last && len(groups) > 0:
		if _, err := r.drop(ctx, groups, false); err != nil {
			return false, err
		}
		return r.drop(ctx, nil, true)
	case last && !r.place.found:
		return false, cause
	case last:
		return false, r.park(ctx, r.place.table, r.place.row.key, cause)
	case len(groups) == 1 && len(groups[0].rows) == 1:
		return false, r.park(ctx, groups[0].src.table, groups[0].rows[0].key, cause)
	}
	for _, half := range halves(groups) {
		if _, err := r.drop(ctx, half, false); err != nil {
			return false, err
		}
	}
	return false, nil
}

func halves(groups []group) [2][]group {
	if n := len(groups); n > 1 {
		return [2][]group{groups[:n/2], groups[n/2:]}
	}
	left, right := groups[0], groups[0]
	n := len(left.rows) / 2
	left.rows, right.rows = left.rows[:n], right.rows[n:]
	return [2][]group{{left}, {right}}
}

// distrust reads from now on what is below an edge, and then goes on with the groups: its
// rows are deleted, or detached, by their keys.
func (r *run) distrust(ctx context.Context, groups []group, last bool, where *batchError) (done bool, err error) {
	r.suspect[where.edge] = true
	n, parents := r.node, []row{r.place.row}
	if where.group < len(groups) {
		n, parents = groups[where.group].src.node, groups[where.group].rows
	}
	if n != where.edge.parent {
		return false, where
	}
	if err := r.walkEdge(ctx, where.edge, parents); err != nil {
		return false, err
	}
	if err := r.flush(ctx); err != nil {
		return false, err
	}
	return r.drop(ctx, groups, last)
}

// park puts a row aside, in a batch of its own: the job does not try it any more.
func (r *run) park(ctx context.Context, t *table, key rowkey.Key, cause error) error {
	total := 0
	for _, keys := range r.parked {
		total += len(keys)
	}
	encoded, err := t.key.Encode(key)
	if err != nil {
		return fmt.Errorf("cascade: a row of %s cannot be parked: %w; what was wrong with it: %w", t.name, err, cause)
	}
	if total >= r.cfg.MaxParked {
		if err := r.tooManyParked(ctx, encoded, t, cause); err != nil {
			return err
		}
	}
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ tally) (bool, error) {
		return false, park(ctx, tx, r.job.ID, t.name, encoded, redact(cause))
	})
	if err != nil {
		return err
	}
	r.leave(t, key)
	r.changes++
	r.cfg.Observer.Parked(t.name)
	r.cfg.Log.WarnContext(ctx, "cascade: parked a row", "job", r.job.ID, "table", t.name, "key", encoded, "error", redact(cause))
	return nil
}

// tooManyParked refuses to park one more row, unless enough of the job's were skipped. One
// statement.
func (r *run) tooManyParked(ctx context.Context, encoded string, t *table, cause error) error {
	var open int64
	err := r.again(ctx, func() (err error) {
		open, _, err = parkedCounts(ctx, r.db, r.job.ID)
		return err
	})
	if err != nil || open < int64(r.cfg.MaxParked) {
		return err
	}
	return fmt.Errorf("%w: %d of job %d, and the next would be %s of %s; look at cascade-worker parked list --job %d, repair or skip them, then retry job %d, or raise MaxParked: %w",
		ErrParked, open, r.job.ID, encoded, t.name, r.job.ID, r.job.ID, cause)
}

// leave takes a row for one that is not to be tried.
func (r *run) leave(t *table, key rowkey.Key) {
	if r.parked[t.name] == nil {
		r.parked[t.name] = map[rowkey.Key]bool{}
	}
	r.parked[t.name][key] = true
}

// loadParked reads which rows earlier attempts have parked. Edges to their tables are
// read, lest they be deleted unread. One statement.
func (r *run) loadParked(ctx context.Context) error {
	r.parked = map[string]map[rowkey.Key]bool{}
	var stored map[string][]string
	err := r.again(ctx, func() (err error) {
		stored, err = parkedKeys(ctx, r.db, r.job.ID)
		return err
	})
	if err != nil || len(stored) == 0 {
		return err
	}
	for _, n := range r.graph.nodes {
		for _, t := range n.tables {
			for _, encoded := range stored[t.name] {
				if key, err := t.key.Decode(encoded); err == nil { // else the key has changed: it is another row now
					r.leave(t, key)
				}
			}
		}
		for _, e := range n.edges {
			for _, s := range e.sources {
				r.suspect[e] = r.suspect[e] || len(stored[s.name]) > 0
			}
		}
	}
	return nil
}
