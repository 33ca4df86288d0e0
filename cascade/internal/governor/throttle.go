package governor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// Throttles are those that are set: for as many statements at once, for a lag of the replicas, for queries.
func Throttles(statements int, lag time.Duration, replicas []*sql.DB, queries []string) (list []Throttle) {
	if statements > 0 {
		list = append(list, threadsRunning(statements))
	}
	if lag > 0 {
		list = append(list, lagging(lag, replicas...))
	}
	for _, query := range queries {
		list = append(list, Query(query))
	}
	return list
}

// threadsRunning waits while more than most sessions of the server are executing something, the one that asks
// among them. One statement, which needs no privilege.
func threadsRunning(most int) Throttle {
	return Throttle{Kind: kindThreads, Reason: func(ctx context.Context, db *sql.DB) (string, error) {
		var name string
		var running int
		if err := onerow.QueryRow(ctx, db, sqlThreads, nil, &name, &running); err != nil {
			return "", fmt.Errorf("read Threads_running: %w", err)
		}
		if running > most {
			return fmt.Sprintf("Threads_running is %d, the limit is %d", running, most), nil
		}
		return "", nil
	}}
}

// sqlThreads touches no table. In a pattern the _ is any character, which does no harm; a \ before it would
// be one to find in a session with NO_BACKSLASH_ESCAPES.
const sqlThreads = `SHOW GLOBAL STATUS LIKE 'Threads_running'`

type replicaLag struct {
	most     time.Duration
	replicas []*sql.DB
	form     []atomic.Int32 // which of sqlLag each replica knows
}

// lagging waits while one of the replicas is further behind than most, or does not replicate at all.
// Without a replica it always has a reason. One statement per replica, one after another.
func lagging(most time.Duration, replicas ...*sql.DB) Throttle {
	t := &replicaLag{most: most, replicas: replicas, form: make([]atomic.Int32, len(replicas))}
	return Throttle{Kind: kindLag, Reason: t.reason}
}

// sqlLag are the ways to ask: MariaDB's for all of its connections; MySQL's since 8.0.22,
// which has a row per channel; what is older. All are free of tables.
var sqlLag = []string{"SHOW ALL SLAVES STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"}

const erParseError = 1064

// reason asks the replicas.
func (t *replicaLag) reason(ctx context.Context, _ *sql.DB) (string, error) {
	if len(t.replicas) == 0 {
		return "there is no replica to ask", nil
	}
	for i, replica := range t.replicas {
		which := fmt.Sprintf("replica %d", i+1)
		for {
			form := t.form[i].Load()
			reason, err := t.lag(ctx, replica, sqlLag[form])
			if mysqlerr.Number(err) == erParseError && int(form) < len(sqlLag)-1 {
				t.form[i].CompareAndSwap(form, form+1)
				continue
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", which, err)
			}
			if reason != "" {
				return which + " " + reason, nil
			}
			break
		}
	}
	return "", nil
}

// lag reads the column by its name, which differs between engines, as its place does.
func (t *replicaLag) lag(ctx context.Context, replica *sql.DB, query string) (reason string, err error) {
	sources := 0
	err = onerow.Query(ctx, replica, query, nil, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		at := slices.IndexFunc(columns, func(c string) bool {
			return strings.EqualFold(c, "Seconds_Behind_Source") || strings.EqualFold(c, "Seconds_Behind_Master")
		})
		if at < 0 {
			return fmt.Errorf("%s has no column Seconds_Behind_Source or Seconds_Behind_Master", query)
		}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = new(sql.RawBytes)
		}
		var behind sql.NullInt64
		into[at] = &behind
		if err := rows.Scan(into...); err != nil {
			return err
		}
		sources++
		switch {
		case !behind.Valid:
			reason = "does not replicate"
		case time.Duration(behind.Int64)*time.Second > t.most && reason == "":
			reason = fmt.Sprintf("is %d s behind, the limit is %s", behind.Int64, t.most)
		}
		return nil
	})
	if err == nil && sources == 0 {
		reason = "is no replica of anything"
	}
	return reason, err
}

// Query asks the application's own query: one row of one column. No row, NULL, an empty text and '0' mean to
// go on, anything else is the reason to wait. Three statements.
func Query(query string) Throttle {
	return Throttle{Kind: kindQuery, Reason: func(ctx context.Context, db *sql.DB) (string, error) {
		return askQuery(ctx, db, query)
	}}
}

func askQuery(ctx context.Context, db *sql.DB, query string) (reason string, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer func() {
		if rolled := tx.Rollback(); !errors.Is(rolled, sql.ErrTxDone) {
			err = errors.Join(err, rolled)
		}
	}()
	answer, count := sql.NullString{}, 0
	err = onerow.Query(ctx, tx, query, nil, func(rows *sql.Rows) error {
		if count++; count > 1 {
			return errors.New("the query has more than one row")
		}
		return rows.Scan(&answer)
	})
	if err != nil || answer.String == "0" {
		return "", err
	}
	return answer.String, nil
}
