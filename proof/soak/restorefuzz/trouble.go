package restorefuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest"
)

// strangerNumber is that of the first stranger.
const strangerNumber = 900

// trouble does what others may do meanwhile, and returns the strangers.
func (w *world) trouble(ctx context.Context) (strangers []schematest.Name, err error) {
	if w.r.IntN(8) == 0 {
		return nil, nil
	}
	w.trial.taken = map[schematest.Name]bool{}
	if w.r.IntN(3) > 0 {
		if strangers, err = w.strangers(ctx); err != nil {
			return strangers, err
		}
	}
	for _, do := range []func(context.Context) error{w.expire, w.handmade, w.above, w.touch, w.columns, w.forget} {
		if w.r.IntN(4) == 0 {
			err = errors.Join(err, do(ctx))
		}
	}
	return strangers, err
}

// refusals are of foreign keys and unique keys, and of MySQL where foreign keys that cascade are in a loop.
var refusals = []uint16{1062, 1451, 1452, 6575}

// perhaps executes what a foreign key may refuse.
func (w *world) perhaps(ctx context.Context, query string) error {
	_, err := w.db.ExecContext(ctx, query)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && slices.Contains(refusals, refused.Number) {
		return nil
	}
	return err //nolint:wrapcheck // it says all
}

// gone are the rows that the job has deleted, those above first.
func (w *world) gone() (names []schematest.Name) {
	order := w.Names()
	for _, n := range sorted(w.trial.before) {
		if w.trial.deleted(n) {
			names = append(names, n)
		}
	}
	slices.SortStableFunc(names, func(a, b schematest.Name) int { return slices.Index(order, a.Node) - slices.Index(order, b.Node) })
	return names
}

// strangers take the root, some of what is below it, or most of it.
func (w *world) strangers(ctx context.Context) (all []schematest.Name, err error) {
	often := 2 + w.r.IntN(20)
	root := w.r.IntN(2) == 0
	for _, n := range w.gone() {
		if w.r.IntN(often) > 0 && (n != w.trial.root || !root) || len(all) >= 60 {
			continue
		}
		number := strangerNumber + len(all)
		ok, err := w.Stranger(ctx, w.db, w.r, n, number)
		if err != nil {
			return all, err //nolint:wrapcheck // it says all
		}
		if ok {
			w.trial.taken[n] = true
			all = append(all, schematest.Name{Node: n.Node, Number: fmt.Sprint(number)})
			w.say("a stranger took %s", n)
		}
	}
	return all, nil
}

// steps are those of the job.
func (w *world) steps(ctx context.Context) (steps []int64, err error) {
	return steps, onerow.Query(ctx, w.db, "SELECT step FROM onerow_trash WHERE job_id = ? AND step > 0 ORDER BY step", []any{w.job}, func(rows *sql.Rows) error {
		var step int64
		err := rows.Scan(&step)
		steps = append(steps, step)
		return err
	})
}

// expire ends the time of some steps, and perhaps purges them.
func (w *world) expire(ctx context.Context) error {
	steps, err := w.steps(ctx)
	often := 1 + w.r.IntN(8)
	for _, step := range steps {
		if err == nil && w.r.IntN(often) == 0 {
			_, err = w.db.ExecContext(ctx, "UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE job_id = ? AND step = ?", w.job, step)
			w.say("step %d expired", step)
		}
	}
	if err == nil && w.r.IntN(3) == 0 {
		err = w.purge(ctx)
	}
	return err
}

// handmade removes rows of a trash table by hand.
func (w *world) handmade(ctx context.Context) error {
	kept := w.plan.Kept()
	if len(kept) == 0 {
		return nil
	}
	table := kept[w.r.IntN(len(kept))]
	query := "DELETE FROM " + ident.Quote(ident.TrashTable(table)) //nolint:gosec // quoted
	if w.r.IntN(3) > 0 {
		query += fmt.Sprintf(" WHERE %s %% %d = 0", schematest.NumberColumn, 2+w.r.IntN(6))
	}
	_, err := w.db.ExecContext(ctx, query)
	w.say("%s", query)
	return err //nolint:wrapcheck // it says all
}

// above deletes rows that the job did not, and to which rows refer that it has deleted.
func (w *world) above(ctx context.Context) error {
	done := map[schematest.Name]bool{}
	for _, n := range w.gone() {
		for _, ref := range w.trial.refs[n] {
			at, there := w.trial.after[ref.To]
			if !there || done[ref.To] || w.r.IntN(6) > 0 {
				continue
			}
			done[ref.To] = true
			query := "DELETE FROM " + ident.Quote(at.table) + " WHERE " + schematest.NumberColumn + " = " + ref.To.Number
			if err := w.perhaps(ctx, query); err != nil {
				return err
			}
			w.say("%s", query)
		}
	}
	return nil
}

// touch sets references anew that the job has cut.
func (w *world) touch(ctx context.Context) error {
	for _, n := range sorted(w.trial.after) {
		was, is := w.trial.before[n], w.trial.after[n]
		for _, ref := range w.trial.refs[n] {
			if is.live(was, ref) || ref.Action.Mark() != "" || w.r.IntN(3) > 0 {
				continue
			}
			for _, other := range sorted(w.trial.after) { // one that refers to something
				from, there := w.trial.after[other]
				if other.Node != n.Node || !there || slices.ContainsFunc(ref.Columns, func(c string) bool { return !from.cells[c].Valid }) {
					continue
				}
				var set []string
				for _, c := range ref.Columns {
					if !is.cells[c].Valid {
						set = append(set, "t."+ident.Quote(c)+" = o."+ident.Quote(c))
					}
				}
				if len(set) == 0 {
					continue
				}
				query := "UPDATE " + ident.Quote(is.table) + " AS t JOIN " + ident.Quote(from.table) + " AS o ON t." + schematest.NumberColumn + " = " + n.Number +
					" AND o." + schematest.NumberColumn + " = " + other.Number + " SET " + strings.Join(set, ", ")
				if err := w.perhaps(ctx, query); err != nil {
					return err
				}
				w.say("%s", query)
				break
			}
		}
	}
	return nil
}

// columns changes columns of a table, and of its trash table as verify wants it.
func (w *world) columns(ctx context.Context) error {
	kept := w.plan.Kept()
	if len(kept) == 0 {
		return nil
	}
	table := kept[w.r.IntN(len(kept))]
	tables := []string{table, ident.TrashTable(table)}
	var change string
	switch w.r.IntN(4) {
	case 0:
		change, tables = "DROP COLUMN note", tables[:1]
	case 1:
		change = "ADD COLUMN added INT NOT NULL DEFAULT 7"
	case 2:
		change = "MODIFY COLUMN note VARCHAR(200) CHARACTER SET utf8mb4 NULL"
	case 3:
		change = "MODIFY COLUMN " + schematest.NumberColumn + " BIGINT NOT NULL"
	}
	for _, name := range tables {
		if _, err := w.db.ExecContext(ctx, "ALTER TABLE "+ident.Quote(name)+" "+change); err != nil {
			return err //nolint:wrapcheck // it says all
		}
	}
	w.say("%s: %s", table, change)
	var err error
	w.shapes, err = schematest.Read(ctx, w.db)
	return err //nolint:wrapcheck // it says all
}

// forget has the plan not keep a table any more.
func (w *world) forget(context.Context) error {
	w.unkeep("does not keep any more")
	return nil
}

// clean removes everything.
func (w *world) clean(ctx context.Context) (err error) {
	for _, tables := range w.Tables() {
		for _, table := range tables {
			_, e := w.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+ident.Quote(ident.TrashTable(table)))
			err = errors.Join(err, e)
		}
	}
	for _, query := range []string{"DELETE FROM onerow_trash", "DELETE FROM onerow_job", "DELETE FROM onerow_job_archive"} {
		_, e := w.db.ExecContext(ctx, query)
		err = errors.Join(err, e)
	}
	return errors.Join(err, w.Drop(ctx, w.db))
}
