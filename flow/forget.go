package flow

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/purge"
)

// sqlEnded reads the index ended_at, oldest first, without a lock. The others are by the primary keys; the
// steps of one run are a range, because their ids begin with the run's. sqlForgetRequest decides, so it comes
// first: somebody else may have forgotten the id since it was read, and a redelivery have it admitted again.
const (
	sqlEnded = `SELECT flow, stage, request_id FROM onerow_flow_request FORCE INDEX (ended_at) WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
 ORDER BY ended_at LIMIT ?`
	sqlForgetSteps   = `DELETE s FROM onerow_flow_step AS s FORCE INDEX (PRIMARY) WHERE step_id > ? AND step_id < ?`
	sqlForgetRequest = `DELETE r FROM onerow_flow_request AS r WHERE flow = ? AND stage = ? AND request_id = ?
 AND ended_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND`
)

// Forget removes request ids that ended more than age ago, and their steps, at most limit of
// them, and returns how many. A redelivery of a forgotten id is admitted again, so age
// must be longer than any queue keeps a message (14 days in SQS). Call it until
// it returns less than limit. One statement, and two in a transaction for each id.
func Forget(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int, error) {
	var ended []Run
	err := onerow.Query(ctx, db, sqlEnded, []any{age.Microseconds(), limit}, func(rows *sql.Rows) error {
		var r Run
		err := rows.Scan(&r.Flow, &r.Stage, &r.RequestID)
		ended = append(ended, r)
		return err
	})
	if err != nil {
		return 0, errtext.Wrap(err, "flow: forget")
	}
	for n, r := range ended {
		if err := r.forget(ctx, db, age); err != nil {
			return n, r.wrap("forget", err)
		}
	}
	return len(ended), nil
}

// ToForget is how many request ids Forget would remove, limit at most. One statement.
func ToForget(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	n, err := purge.Table{Find: sqlEnded}.Waiting(ctx, db, limit, age.Microseconds())
	return n, errtext.Wrap(err, "flow: count what is to be forgotten")
}

func (r Run) forget(ctx context.Context, db onerow.DB, age time.Duration) error {
	prefix, err := onerow.EncodeKey(r.Flow, r.Stage, r.RequestID)
	if err != nil { // so long that it has no steps
		prefix = ""
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlForgetRequest, r.Flow, r.Stage, r.RequestID, age.Microseconds())
		if err != nil || n == 0 || prefix == "" {
			return err
		}
		// Behind the prefix comes a comma, and - is the byte after it.
		_, err = tx.ExecContext(ctx, sqlForgetSteps, prefix+",", prefix+"-")
		return err
	})
}
