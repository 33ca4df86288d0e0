package fuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Killer ends sessions and queries of one database, those that work as well as those that wait for the
// client.
type Killer struct {
	Kills, Queries atomic.Int64 // KILL and KILL QUERY that found their session

	rests sync.Mutex
}

// Rest kills nobody until the function that it returns is called, but for one whom it has in its sights.
func (k *Killer) Rest() (again func()) {
	k.rests.Lock()
	return k.rests.Unlock
}

const sqlVictim = `SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID() ORDER BY (info IS NULL) = ?, RAND() LIMIT 1`

// erNoSuchThread says that the session has gone before it was killed.
const erNoSuchThread = 1094

// Run kills until ctx ends. The pool must be in another database.
func (k *Killer) Run(ctx context.Context, db *sql.DB, database string, r *rand.Rand, longest time.Duration) error {
	for Pause(ctx, time.Duration(r.Int64N(int64(longest)))) {
		k.rests.Lock()
		k.rests.Unlock() //nolint:staticcheck // it only waits
		idle, whole := r.IntN(2), r.IntN(3) == 0
		var id int64
		err := db.QueryRowContext(ctx, sqlVictim, database, idle).Scan(&id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("soak: the killer: %w", err)
		}
		text, count := "KILL QUERY ", &k.Queries
		if whole {
			text, count = "KILL ", &k.Kills
		}
		var gone *mysql.MySQLError
		switch _, err := db.ExecContext(ctx, text+fmt.Sprint(id)); {
		case err == nil:
			count.Add(1)
		case ctx.Err() != nil, errors.As(err, &gone) && gone.Number == erNoSuchThread:
		default:
			return fmt.Errorf("soak: the killer: %w", err)
		}
	}
	return nil
}
