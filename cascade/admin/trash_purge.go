package admin

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// sqlExpired reads the index expires_at from a place on, without a lock: at first what nobody has had trouble
// with, then the rest. What has expired does not come back, so nobody writes it but who purges; what has come
// back has expired, with no rows left.
const sqlExpired = `SELECT job_id, step, table_name, step > 0 AND cut = '' AND kept_rows > 0, CAST(expires_at AS CHAR) FROM onerow_trash FORCE INDEX (expires_at)
WHERE expires_at < UTC_TIMESTAMP(6) AND expires_at >= ? AND (expires_at > ? OR job_id > ? OR job_id = ? AND step > ?) AND (error IS NOT NULL) = ?
ORDER BY expires_at, job_id, step LIMIT ?`

// sqlDropStep deletes by the primary key, and decides between two who purge.
const sqlDropStep = `DELETE s FROM onerow_trash AS s WHERE s.job_id = ? AND s.step = ? AND s.expires_at < UTC_TIMESTAMP(6)`

// sqlDoomStep waits, by the primary key, for a restore that has locked the step before it expired: what
// came back keeps its assets. It changes the row always.
const sqlDoomStep = `UPDATE onerow_trash SET expires_at = expires_at - INTERVAL 1 SECOND WHERE job_id = ? AND step = ? AND kept_rows > 0 AND expires_at < UTC_TIMESTAMP(6)`

// sqlKeepStuck follows on sqlDoomStep, on rows whose assets cannot be deleted.
const sqlKeepStuck = `UPDATE onerow_trash SET kept_rows = kept_rows - ?, error = ` + dbtext.Param + ` WHERE job_id = ? AND step = ?`

// expiredAtOnce is how many steps are looked for at once, and maxStuck how many assets may fail before the
// others are left to a later call: it is the store, then, and not the asset.
const (
	expiredAtOnce = 20
	maxStuck      = 10
)

// assetStore is what cascade.Config has as Assets.
type assetStore interface {
	Delete(ctx context.Context, names []string) error
}

// PurgeTrash removes what in the trash has expired or come back, oldest first: about limit rows, whole steps
// of up to cascade.Config.Batch rows. It returns how many, copies of what is back among them: less than limit
// when nothing more has expired. assets is that of cascade.Config: the assets of rows go first, which nobody
// else deletes; nil leaves the steps of tables with assets alone. A row whose asset cannot be deleted stays,
// with the reason, see [TrashOf], and is tried again by each call, after the others; it is the error at the
// end.
//
// Four statements for each step, a transaction of its own, 2 more with assets, and 1 for each 20 steps, 2 at
// least. It may run beside everything and beside itself, and be called again after any error.
func PurgeTrash(ctx context.Context, db onerow.DB, plan schema.Plan, assets assetStore, limit int) (purged int64, err error) {
	if limit <= 0 {
		return 0, fmt.Errorf("%w: %d at most", queue.ErrInvalid, limit)
	}
	p := trashPurge{db: db, assets: assets, columns: map[string]string{}}
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			p.columns[table] = n.Asset
		}
	}
	for _, trouble := range []bool{false, true} {
		n, err := p.all(ctx, trouble, int64(limit)-purged)
		if purged += n; err != nil {
			return purged, fmt.Errorf("cascade: purge the trash: %w", err)
		}
	}
	if p.failed != nil {
		return purged, fmt.Errorf("cascade: purge the trash: %w", p.failed)
	}
	return purged, nil
}

// all purges steps from the oldest, those that were in trouble before, or the others.
func (p *trashPurge) all(ctx context.Context, trouble bool, limit int64) (purged int64, err error) {
	last := expiredStep{expires: "1000-01-01 00:00:00"}
	p.stuck = 0
	for purged < limit {
		args := []any{last.expires, last.expires, last.job, last.job, last.step, trouble, expiredAtOnce}
		steps, err := readAll(ctx, p.db, "read what has expired", sqlExpired, args, func(rows *sql.Rows, s *expiredStep) error {
			return rows.Scan(&s.job, &s.step, &s.table, &s.deleted, &s.expires)
		})
		if err != nil {
			return purged, err
		}
		for _, s := range steps {
			if purged >= limit {
				break
			}
			n, err := p.step(ctx, s)
			if err != nil {
				return purged, fmt.Errorf("of %s: %w", s.table, err)
			}
			purged, last = purged+n, s
		}
		if len(steps) < expiredAtOnce {
			break
		}
	}
	return purged, nil
}

type trashPurge struct {
	db      onerow.DB
	assets  assetStore
	columns map[string]string // the asset's, by table
	stuck   int               // how many assets could not be deleted
	failed  error             // why the first one could not
}

type expiredStep struct {
	job, step int64
	table     string
	deleted   bool // else the rows live, and have their assets
	expires   string
}

// of is the rows of the step, by the primary key of the trash table.
func (s expiredStep) of() string {
	return ident.Quote(ident.TrashTable(s.table)) + " AS k FORCE INDEX (PRIMARY) WHERE k." + ident.ColTrashJob + " = " + strconv.FormatInt(s.job, 10) +
		" AND k." + ident.ColTrashStep + " = " + strconv.FormatInt(s.step, 10)
}

// step purges one, as far as it can.
func (p *trashPurge) step(ctx context.Context, s expiredStep) (rows int64, err error) {
	var stay []string
	column := p.columns[s.table]
	if column != "" && s.deleted {
		if p.assets == nil || p.stuck >= maxStuck {
			return 0, nil
		}
		n, err := onerow.Affected(ctx, p.db, sqlDoomStep, s.job, s.step)
		if err != nil || n == 0 {
			return 0, err
		}
		if stay, err = p.dropAssets(ctx, s, column); err != nil && !noTable(err) {
			return 0, err
		}
		if p.stuck >= maxStuck {
			return 0, nil
		}
	}
	err = onerow.InIdempotentTx(ctx, p.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		rows, err = p.drop(ctx, tx, s, column, stay)
		return err
	})
	return rows, err
}

// drop removes the step with its rows, or its rows but for those whose assets stay.
func (p *trashPurge) drop(ctx context.Context, tx *onerow.Tx, s expiredStep, column string, stay []string) (rows int64, err error) {
	if len(stay) > 0 {
		n, err := onerow.Affected(ctx, tx, sqlDoomStep, s.job, s.step)
		if err != nil || n == 0 {
			return 0, err
		}
		args := make([]any, len(stay))
		for i, name := range stay {
			args[i] = name
		}
		others := " AND NOT COALESCE(k." + ident.Quote(column) + " IN (" + ident.Params(len(stay)) + "), 0)"
		if rows, err = onerow.Affected(ctx, tx, "DELETE k FROM "+s.of()+others, args...); err == nil {
			_, err = tx.ExecContext(ctx, sqlKeepStuck, rows, dbtext.Arg(fault.Redact(p.failed)), s.job, s.step)
		}
		return rows, err
	}
	n, err := onerow.Affected(ctx, tx, sqlDropStep, s.job, s.step)
	if err != nil || n == 0 || s.table == "" {
		return 0, err
	}
	rows, err = onerow.Affected(ctx, tx, "DELETE k FROM "+s.of())
	if noTable(err) { // somebody has dropped it
		rows, err = 0, nil
	}
	return rows, err
}

// assetsAtOnce is how many names Assets.Delete gets at most.
const assetsAtOnce = 100

// dropAssets deletes the assets of a step, and returns those that cannot be deleted.
func (p *trashPurge) dropAssets(ctx context.Context, s expiredStep, column string) (stay []string, err error) {
	query := "SELECT k." + ident.Quote(column) + " FROM " + s.of() + " AND k." + ident.Quote(column) + " <> ''"
	names, err := readAll(ctx, p.db, "read the assets", query, nil, func(rows *sql.Rows, name *string) error { return rows.Scan(name) })
	for part := range slices.Chunk(names, assetsAtOnce) {
		if err != nil {
			break
		}
		var some []string
		some, err = p.dropSome(ctx, s, part)
		stay = append(stay, some...)
	}
	return stay, err
}

// dropSome halves the names where one of them fails.
func (p *trashPurge) dropSome(ctx context.Context, s expiredStep, names []string) (stay []string, err error) {
	if len(names) == 0 || p.stuck >= maxStuck {
		return nil, nil
	}
	err = p.assets.Delete(ctx, names)
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, err
	case len(names) == 1:
		if p.stuck++; p.failed == nil {
			p.failed = fmt.Errorf("an asset of %s: %w", s.table, err)
		}
		return names, nil
	}
	for _, half := range [][]string{names[:len(names)/2], names[len(names)/2:]} {
		some, err := p.dropSome(ctx, s, half)
		if stay = append(stay, some...); err != nil {
			return stay, err
		}
	}
	return stay, nil
}

// noTable says whether an error means that there is no such table.
func noTable(err error) bool { return mysqlerr.Number(err) == 1146 }
