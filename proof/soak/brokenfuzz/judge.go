package brokenfuzz

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/serial/gaps"
)

// tables are what is there at the end, counted by token or by project.
type tables struct {
	ledger, effect, keys, claims, requests, named map[string]int64
	active, archived, screens                     map[string]int64 // by id
}

func (w *world) read(ctx context.Context) (t tables, err error) {
	for _, one := range []struct {
		into  *map[string]int64
		query string
	}{
		{&t.ledger, "SELECT token, COUNT(*) FROM ledger GROUP BY token"},
		{&t.effect, "SELECT token, COUNT(*) FROM effect GROUP BY token"},
		{&t.keys, "SELECT idem_key, COUNT(*) FROM onerow_key GROUP BY idem_key"},
		{&t.claims, "SELECT claim_key, from_no FROM onerow_serial_claim"},
		{&t.requests, "SELECT request_id, COUNT(*) FROM onerow_request GROUP BY request_id"},
		{&t.named, "SELECT name, COUNT(*) FROM (SELECT name FROM project UNION ALL SELECT name FROM project_archive) AS p GROUP BY name"},
		{&t.active, "SELECT id, COUNT(*) FROM project GROUP BY id"},
		{&t.archived, "SELECT id, COUNT(*) FROM project_archive GROUP BY id"},
		{&t.screens, "SELECT project_id, COUNT(*) FROM screen GROUP BY project_id"},
	} {
		err := surely(func() error {
			rows := map[string]int64{}
			*one.into = rows
			return onerow.Query(ctx, w.pools[0], one.query, nil, func(r *sql.Rows) error {
				var key string
				var n int64
				err := r.Scan(&key, &n)
				rows[key] = n
				return err //nolint:wrapcheck // it says all
			})
		})
		if err != nil {
			return t, fmt.Errorf("soak: %w: %s", err, one.query)
		}
	}
	return t, nil
}

const sqlTables = `SELECT table_name FROM information_schema.tables WHERE table_schema = '` + database + `' AND table_type = 'BASE TABLE'`

// checkTables asks the server whether its tables and indexes are sound: no statement can be right on others.
func (w *world) checkTables(ctx context.Context) error {
	var tables []string
	read := func(query string, row func(rows *sql.Rows) error) error {
		return surely(func() error { return onerow.Query(ctx, w.pools[0], query, nil, row) })
	}
	err := read(sqlTables, func(rows *sql.Rows) error {
		var table string
		err := rows.Scan(&table)
		tables = append(tables, table)
		return err //nolint:wrapcheck // it says all
	})
	for _, table := range tables {
		if err != nil {
			break
		}
		err = read("CHECK TABLE `"+table+"` EXTENDED", func(rows *sql.Rows) error {
			var name, op, kind, text string
			err := rows.Scan(&name, &op, &kind, &text)
			if err == nil && text != "OK" {
				w.found.Add(brokenServer, "%s: %s: %s", name, kind, text)
			}
			return err //nolint:wrapcheck // it says all
		})
	}
	if err != nil {
		return fmt.Errorf("soak: check the tables: %w", err)
	}
	return nil
}

// judge holds the tables against the book.
func (w *world) judge(ctx context.Context) error {
	t, err := w.read(ctx)
	if err != nil {
		return err
	}
	w.judgeTokens(t)
	if err := w.judgeProjects(ctx, t); err != nil {
		return err
	}
	var dead int
	var why string
	if err := w.pools[0].QueryRowContext(ctx, sqlDead).Scan(&dead, &why); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if dead > 0 {
		w.found.Add(brokenQueue, "%d jobs are dead or have leftovers, as %s", dead, why)
	}
	return w.judgeNumbers(ctx)
}

// once judges how often something is there.
func (w *world) once(c *call, what string, n int64) {
	switch {
	case c.outcome == done && n != 1:
		w.found.Add(brokenLost, "%s %s: %d times %s", c.kind, c.token, n, what)
	case c.outcome == refused && n != 0:
		w.found.Add(brokenRefused, "%s %s: %d times %s; it was answered %v", c.kind, c.token, n, what, c.err)
	case n > 1:
		w.found.Add(brokenTwice, "%s %s: %d times %s", c.kind, c.token, n, what)
	}
}

func (w *world) judgeTokens(t tables) {
	for _, c := range w.book.of(together) {
		claim := min(t.claims[c.token], 1)
		w.once(c, "ledger's row", t.ledger[c.token])
		if n := t.ledger[c.token]; n != claim || n != t.requests[c.token] {
			w.found.Add(brokenHalf, "%s: %d ledger's rows, %d claims, %d projects made", c.token, n, claim, t.requests[c.token])
		}
	}
	for _, c := range w.book.of(plain) {
		w.once(c, "ledger's row", t.ledger[c.token])
	}
	for _, c := range w.book.of(effects) {
		w.once(c, "effect", t.effect[c.token])
		if t.effect[c.token] != t.keys[c.token] {
			w.found.Add(brokenHalf, "%s: %d effects, %d keys; it was answered %v; %s", c.token, t.effect[c.token], t.keys[c.token], c.err, w.keyOf(c.token))
		}
	}
	for _, c := range w.book.of(claimed) {
		w.once(c, "claim", min(t.claims[c.token], 1))
		if c.outcome == done && t.claims[c.token] != c.id {
			w.found.Add(brokenLost, "%s %s: %d was answered, %d is stored", c.kind, c.token, c.id, t.claims[c.token])
		}
	}
}

const sqlKey = `SELECT CONCAT_WS(', ', status, version, created_at, completed_at, error, (SELECT COUNT(*) FROM effect IGNORE INDEX (token) WHERE token = ?)) FROM onerow_key WHERE idem_key = ?`

// keyOf is all that is there of a key, and how often its effect is in the table itself, not in the index.
func (w *world) keyOf(token string) (text string) {
	if w.pools == nil {
		return ""
	}
	if err := w.pools[0].QueryRowContext(context.Background(), sqlKey, token, token).Scan(&text); err != nil {
		return err.Error()
	}
	return text
}

func (w *world) judgeProjects(ctx context.Context, t tables) error {
	last := map[string]*call{} // deletions and restores, by project
	for _, c := range w.book.of(deleted, restored) {
		if c.kind == restored || c.outcome != refused {
			last[c.token] = c
		}
	}
	for _, c := range w.book.of(created, together) {
		id := fmt.Sprint(c.id)
		w.once(c, "request", t.requests[c.token])
		there := t.active[id] + t.archived[id]
		switch after := last[c.token]; {
		case c.outcome != done:
			w.once(c, "row", t.named[c.token])
		case after == nil:
			w.once(c, "row", there)
			w.once(c, "row of its name", t.named[c.token])
		case after.kind == restored:
			if n := t.screens[id] - int64(after.kids); there != 1 || n < 0 || n > 0 && !after.grown {
				w.found.Add(brokenTrash, "project %s: %d times, %d screens of %d", id, there, t.screens[id], after.kids)
			}
		case after.outcome == done:
			if there != 0 || t.screens[id] != 0 {
				w.found.Add(brokenGone, "project %s: %d times, %d screens of %d", id, there, t.screens[id], after.kids)
			}
			if err := w.judgeJob(ctx, after); err != nil {
				return err
			}
		case there > 1 || there == 0 && t.screens[id] > 0:
			w.found.Add(brokenTwice, "project %s: %d times, %d screens", id, there, t.screens[id])
		}
	}
	return nil
}

// judgeJob holds what a job has counted against what there was.
func (w *world) judgeJob(ctx context.Context, c *call) error {
	job, err := queue.Get(ctx, w.pools[0], c.job)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if job.Tables["screen"] != int64(c.kids) {
		w.found.Add(brokenCounts, "job %d of project %d: %v, there were %d screens", c.job, c.id, job.Tables, c.kids)
	}
	return nil
}

const (
	sqlWrong = `SELECT COUNT(*) FROM account AS a WHERE n <> (SELECT COUNT(*) FROM ledger WHERE no = a.id)`
	sqlRoom  = `SELECT (SELECT COUNT(*) FROM project WHERE user_id = ?) + (SELECT COUNT(*) FROM project_archive WHERE user_id = ? AND deleted_from = 'active')`
)

func (w *world) judgeNumbers(ctx context.Context) error {
	found, err := gaps.Find(ctx, w.pools[0], w.shop.numbers)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if !gaps.Complete(found) {
		w.found.Add(brokenRoom, "gaps: %+v", found)
	}
	var wrong int
	if err := w.pools[0].QueryRowContext(ctx, sqlWrong).Scan(&wrong); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if wrong > 0 {
		w.found.Add(brokenHalf, "%d accounts are not what their ledger says", wrong)
	}
	for owner := range int64(owners) {
		var rows int64
		if err := w.pools[0].QueryRowContext(ctx, sqlRoom, owner+1, owner+1).Scan(&rows); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		room, err := w.shop.rule.Look(ctx, w.pools[0], owner+1)
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		if room.Known && room.Used != rows {
			w.found.Add(brokenRoom, "owner %d: %+v, and there are %d rows", owner+1, room, rows)
		}
	}
	return nil
}
