package governor

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// sqlBeat keeps the worker's row, by its primary key. The first beat of a process also
// says when it started. beats grows by the statements that the worker has sent since, at least by one.
const sqlBeat = `INSERT INTO onerow_worker (name, started_at, seen_at, throttle, job_id, beats)
VALUES (?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ` + dbtext.Param + `, ?, 1)
ON DUPLICATE KEY UPDATE started_at = IF(?, VALUES(started_at), started_at), seen_at = VALUES(seen_at), throttle = VALUES(throttle),
  job_id = VALUES(job_id), beats = beats + ?`

// Beat shows that the worker lives. That it cannot is no reason to stop work: nothing is decided by the row,
// and who looks at it sees that it is old. It is tried again when the next sign of life is due.
func (g *Governor) Beat(ctx context.Context, shown string) {
	g.beaten, g.written = time.Now(), g.reason
	ctx, cancel := context.WithTimeout(ctx, g.patience())
	defer cancel()
	var throttle any
	if shown != "" {
		throttle = dbtext.Arg(shown)
	}
	own := g.others.own.Load()
	more := max(1, own-g.others.told)
	if _, err := g.db.ExecContext(ctx, sqlBeat, []byte(g.name), throttle, g.job, !g.listed, more); err != nil {
		return
	}
	g.listed, g.others.told, g.others.beats = true, own, g.others.beats+more
	if time.Since(g.tidied) >= tidyEvery {
		g.tidied = time.Now()
		if g.Tidy(ctx) != nil {
			g.tidied = g.tidied.Add(tidyAgain - tidyEvery)
		}
	}
}

// The rows of workers that were not seen for an hour are looked for without a lock, and
// deleted by the primary key: workers that live are not held up.
const (
	sqlGoneWorkers = `SELECT name FROM onerow_worker WHERE seen_at < UTC_TIMESTAMP(6) - INTERVAL 1 HOUR ORDER BY name LIMIT 20`
	sqlDropGone    = `DELETE FROM onerow_worker WHERE name = ? AND seen_at < UTC_TIMESTAMP(6) - INTERVAL 1 HOUR`
)

// Tidy is for what others have left behind. One statement, and 1 for each such row.
func (g *Governor) Tidy(ctx context.Context) error {
	var names [][]byte
	err := onerow.Query(ctx, g.db, sqlGoneWorkers, nil, func(rows *sql.Rows) error {
		var name []byte
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	for i := 0; err == nil && i < len(names); i++ {
		_, err = g.db.ExecContext(ctx, sqlDropGone, names[i])
	}
	return err
}

// sqlDropWorker deletes by the primary key.
const sqlDropWorker = `DELETE FROM onerow_worker WHERE name = ?`

// Gone removes the worker's row at a clean end, also when ctx has ended. One statement,
// none if the row was never written.
func (g *Governor) Gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTime)
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.turn:
	}
	defer func() { g.turn <- struct{}{} }()
	if g.told != "" {
		g.Throttled("")
		g.told = ""
	}
	if !g.listed {
		return nil
	}
	if _, err := g.db.ExecContext(ctx, sqlDropWorker, []byte(g.name)); err != nil {
		return fmt.Errorf("cascade: take worker %q off the list: %w", g.name, err)
	}
	g.listed = false
	return nil
}
