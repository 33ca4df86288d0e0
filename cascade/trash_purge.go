package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// sqlExpired reads the head of the index expires_at, without a lock. What has expired does not come back, so
// nobody writes it but who purges; what has come back has expired, with no rows left.
const sqlExpired = `SELECT job_id, step, table_name, step > 0 AND cut = '' AND kept_rows > 0 FROM onerow_trash FORCE INDEX (expires_at)
WHERE expires_at < UTC_TIMESTAMP(6) ORDER BY expires_at LIMIT ?`

// sqlDropStep deletes by the primary key, and decides between two who purge.
const sqlDropStep = `DELETE s FROM onerow_trash AS s WHERE s.job_id = ? AND s.step = ? AND s.expires_at < UTC_TIMESTAMP(6)`

// sqlDoomStep waits, by the primary key, for a restore that has locked the step before it expired: what
// came back keeps its assets. It changes the row always.
const sqlDoomStep = `UPDATE onerow_trash SET expires_at = expires_at - INTERVAL 1 SECOND WHERE job_id = ? AND step = ? AND kept_rows > 0 AND expires_at < UTC_TIMESTAMP(6)`

// expiredAtOnce is how many steps are looked for at once.
const expiredAtOnce = 20

// PurgeTrash removes what in the trash has expired or come back, oldest first: about limit rows, whole steps
// of up to Config.Batch rows. It returns how many, copies of what is back among them: less than limit when
// nothing more has expired. The assets of rows go first, which nobody else deletes; a nil assets leaves the
// steps of tables with assets alone.
//
// Four statements for each step, a transaction of its own, 2 more with assets, and 1 for each 20 steps. It
// may run beside everything and beside itself, and be called again after any error.
func PurgeTrash(ctx context.Context, db onerow.DB, plan schema.Plan, assets Assets, limit int) (purged int64, err error) {
	if limit <= 0 {
		return 0, fmt.Errorf("%w: %d at most", ErrInvalidConfig, limit)
	}
	p := trashPurge{db: db, assets: assets, columns: map[string]string{}}
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			p.columns[table] = n.Asset
		}
	}
	for purged < int64(limit) {
		steps, err := p.expired(ctx)
		if err != nil {
			return purged, fmt.Errorf("cascade: purge the trash: %w", err)
		}
		done := false
		for _, s := range steps {
			if purged >= int64(limit) {
				break
			}
			n, ok, err := p.step(ctx, s)
			if err != nil {
				return purged, fmt.Errorf("cascade: purge the trash of %s: %w", s.table, err)
			}
			purged += n
			done = done || ok
		}
		if !done || len(steps) < expiredAtOnce && purged < int64(limit) {
			break
		}
	}
	return purged, nil
}

type trashPurge struct {
	db      onerow.DB
	assets  Assets
	columns map[string]string // the asset's, by table
}

type expiredStep struct {
	job, step int64
	table     string
	deleted   bool // else the rows live, and have their assets
}

func (p *trashPurge) expired(ctx context.Context) (steps []expiredStep, err error) {
	return steps, onerow.Query(ctx, p.db, sqlExpired, []any{expiredAtOnce}, func(rows *sql.Rows) error {
		var s expiredStep
		var table []byte
		err := rows.Scan(&s.job, &s.step, &table, &s.deleted)
		s.table = string(table)
		steps = append(steps, s)
		return err
	})
}

// of is the rows of the step, by the primary key of the trash table.
func (s expiredStep) of() string {
	return schema.Quote(schema.TrashTable(s.table)) + " AS k FORCE INDEX (PRIMARY) WHERE k." + schema.ColTrashJob + " = " + strconv.FormatInt(s.job, 10) +
		" AND k." + schema.ColTrashStep + " = " + strconv.FormatInt(s.step, 10)
}

// step purges one, and says whether it could.
func (p *trashPurge) step(ctx context.Context, s expiredStep) (rows int64, ok bool, err error) {
	if column := p.columns[s.table]; column != "" && s.deleted {
		if p.assets == nil {
			return 0, false, nil
		}
		n, err := onerow.Affected(ctx, p.db, sqlDoomStep, s.job, s.step)
		if err != nil || n == 0 {
			return 0, false, err
		}
		if err := p.dropAssets(ctx, s, column); err != nil && !noTable(err) {
			return 0, false, err
		}
	}
	err = onerow.InIdempotentTx(ctx, p.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlDropStep, s.job, s.step)
		if ok = n > 0; err != nil || !ok || s.table == "" {
			return err
		}
		rows, err = onerow.Affected(ctx, tx, "DELETE k FROM "+s.of())
		if noTable(err) { // somebody has dropped it
			rows, err = 0, nil
		}
		return err
	})
	return rows, ok, err
}

func (p *trashPurge) dropAssets(ctx context.Context, s expiredStep, column string) error {
	var names []string
	query := "SELECT " + "k." + ident.Quote(column) + " FROM " + s.of() + " AND k." + ident.Quote(column) + " <> ''"
	err := onerow.Query(ctx, p.db, query, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	for part := range slices.Chunk(names, sweepDelete) {
		if err == nil {
			err = p.assets.Delete(ctx, part)
		}
	}
	return err
}

// erNoSuchTable is the server's error for a table that is not there.
const erNoSuchTable = 1146

func noTable(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == erNoSuchTable
}
