package poolfuzz

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/serial/gaps"
)

// mustBeNone are counts that are 0 at the end.
var mustBeNone = map[string]string{
	"an effect is there twice":         "SELECT COUNT(*) FROM (SELECT name FROM effect GROUP BY name HAVING COUNT(*) > 1) AS twice",
	"an effect without its key":        "SELECT COUNT(*) FROM effect AS e LEFT JOIN onerow_key AS k ON k.idem_key = e.name WHERE k.idem_key IS NULL",
	"a key without its effect":         "SELECT COUNT(*) FROM onerow_key AS k LEFT JOIN effect AS e ON k.idem_key = e.name WHERE e.name IS NULL",
	"a row in both tables":             "SELECT COUNT(*) FROM file JOIN file_archive USING (id)",
	"a request without its row's id":   "SELECT COUNT(*) FROM onerow_request WHERE row_id IS NULL",
	"numbers that nobody claimed":      "SELECT s.next_no - s.first_no - SUM(c.amount) FROM onerow_serial AS s JOIN onerow_serial_claim AS c USING (series) GROUP BY s.next_no, s.first_no",
	"a claim without its numbers":      "SELECT COUNT(*) FROM onerow_serial_claim WHERE from_no IS NULL",
	"an owner with more than may be":   fmt.Sprintf("SELECT COUNT(*) FROM (SELECT user_id FROM file GROUP BY user_id HAVING COUNT(*) > %d) AS many", maximum),
	"a name that two active rows have": "SELECT COUNT(*) FROM (SELECT user_id FROM file GROUP BY user_id, name_key HAVING COUNT(*) > 1) AS twice",
}

// sqlCounted is what counts below an owner's limit: active rows, and those that a deletion hides.
const sqlCounted = `SELECT (SELECT COUNT(*) FROM file WHERE user_id = ?) +
 (SELECT COUNT(*) FROM file_archive WHERE user_id = ? AND deletion_id IS NOT NULL AND deleted_from = 'active')`

// judge holds the tables against what was answered.
func (w *world) judge(ctx context.Context) error {
	for what, query := range mustBeNone {
		var n sql.NullInt64
		if err := w.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return fmt.Errorf("soak: %s: %w", what, err)
		}
		if n.Int64 != 0 {
			w.found.Add(brokenEnd, "%d times %s", n.Int64, what)
		}
	}
	for _, answered := range []struct {
		answers *sync.Map
		query   string
	}{
		{&w.made, "SELECT request_id, row_id FROM onerow_request"},
		{&w.numbered, "SELECT claim_key, from_no FROM onerow_serial_claim"},
		{&w.effects, "SELECT name, 1 FROM effect"},
	} {
		if err := w.kept(ctx, answered.answers, answered.query); err != nil {
			return err
		}
	}
	found, err := gaps.Find(ctx, w.db, w.shop.numbers)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if !gaps.Complete(found) {
		w.found.Add(brokenEnd, "gaps of numbers: %+v", found)
	}
	for owner := range int64(owners) {
		if err := w.shop.rule.Recount(ctx, w.db, owner+1); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		room, err := w.shop.rule.Look(ctx, w.db, owner+1)
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		var rows int64
		if err := w.db.QueryRowContext(ctx, sqlCounted, owner+1, owner+1).Scan(&rows); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		if room.Known && room.Used != rows {
			w.found.Add(brokenEnd, "owner %d: %+v, and there are %d rows", owner+1, room, rows)
		}
	}
	return nil
}

// kept finds what was answered and is not in the rows of the query, by their first column.
func (w *world) kept(ctx context.Context, answers *sync.Map, query string) error {
	stored := map[string]int64{}
	err := onerow.Query(ctx, w.db, query, nil, func(rows *sql.Rows) error {
		var key string
		var answer int64
		err := rows.Scan(&key, &answer)
		stored[key] = answer
		return err //nolint:wrapcheck // it says all
	})
	answers.Range(func(key, answer any) bool {
		if have, there := stored[key.(string)]; !there || have != answer {
			w.found.Add(brokenEnd, "%q: %v was answered, %d is stored (%t)", key, answer, have, there)
		}
		return true
	})
	return err //nolint:wrapcheck // it says all
}
