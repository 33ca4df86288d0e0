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

// sqlSessions is read as rows of text: information_schema.processlist of MySQL fails (3854) while a statement
// runs whose text is not in the character set that it claims, as one with a binary key in it.
const sqlSessions = `SHOW PROCESSLIST`

// victims are the sessions of a database that wait for their client, and those that work.
func victims(ctx context.Context, db *sql.DB, database string) (idle, busy []string, err error) {
	rows, err := db.QueryContext(ctx, sqlSessions)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it is looked at
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it is looked at
	}
	cells := make([]sql.NullString, len(columns)) // id, user, host, db, command, and more
	dest := make([]any, len(columns))
	for i := range cells {
		dest[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, nil, err //nolint:wrapcheck // it is looked at
		}
		switch id, command := cells[0].String, cells[4].String; {
		case cells[3].String != database:
		case command == "Sleep":
			idle = append(idle, id)
		default:
			busy = append(busy, id)
		}
	}
	return idle, busy, rows.Err() //nolint:wrapcheck // it is looked at
}

// erNoSuchThread says that the session has gone before it was killed.
const erNoSuchThread = 1094

// Run kills until ctx ends. The pool must be in another database.
func (k *Killer) Run(ctx context.Context, db *sql.DB, database string, r *rand.Rand, longest time.Duration) error {
	for Pause(ctx, time.Duration(r.Int64N(int64(longest)))) {
		k.rests.Lock()
		k.rests.Unlock() //nolint:staticcheck // it only waits
		idle, busy, err := victims(ctx, db, database)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("soak: the killer: %w", err)
		}
		whole := r.IntN(3) == 0
		if len(busy) == 0 || whole && r.IntN(2) == 0 {
			busy = append(busy, idle...) // KILL QUERY of who rests kills nothing, or the next one
		}
		if len(busy) == 0 {
			continue
		}
		id := busy[r.IntN(len(busy))]
		text, count := "KILL QUERY ", &k.Queries
		if whole {
			text, count = "KILL ", &k.Kills
		}
		var gone *mysql.MySQLError
		switch _, err := db.ExecContext(ctx, text+id); {
		case err == nil:
			count.Add(1)
		case ctx.Err() != nil, errors.As(err, &gone) && gone.Number == erNoSuchThread:
		default:
			return fmt.Errorf("soak: the killer: %w", err)
		}
	}
	return nil
}
