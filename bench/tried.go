package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
)

// tried are ways that the toolkit does not go, beside the one that it goes: what docs/results/tried.md says
// of them is measured here.
func tried(o options) []work {
	return []work{
		{"create, all of one name, tried", 32, triedContests},
		{"effect once for each key, tried", 16, triedEffects},
		{"replay of a key, tried", 16, triedReplays},
		{"serial numbers of one series, tried", 16, triedSerials},
		{"jobs with nothing below, tried", 8, triedJobs(o.Jobs)},
		{"jobs of ten rows, tried", 8, triedSmallTrees(o.Jobs)},
		{"a tree of 10,201 rows, tried", 1, triedTrees},
		{"users at a fifth of what the server can do, tried", atOnce, triedUsers(o.Period)},
		{"a cascade beside such users, tried", atOnce, triedBackground(o.Period)},
		{"two-step record, no index beside the primary key", 16, recordsUnindexed},
	}
}

const (
	// As sqlWideKey and sqlWideResult, but that no index changes twice, or one.
	sqlEndedKey = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, completed_at, expires_at)
VALUES ('7', 'own', ?, 'complete', 1, 'aaaaaaaaaaaaaaaa', 'me', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)`
	sqlEndedResult   = `UPDATE onerow_key SET completed_at = UTC_TIMESTAMP(6), codec = 'json', result = ? WHERE tenant = '7' AND operation = 'own' AND idem_key = ?`
	sqlEndingKey     = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at) VALUES ('7', 'own', ?, 'complete', 1, 'aaaaaaaaaaaaaaaa', 'me', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`
	sqlEndingResult  = `UPDATE onerow_key SET version = version + 1, completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, codec = 'json', result = ? WHERE tenant = '7' AND operation = 'own' AND idem_key = ?`
	sqlWideLook      = `SELECT result FROM onerow_key WHERE tenant = '7' AND operation = 'own' AND idem_key = ?`
	sqlWideDecides   = `SELECT IF(status = 'complete' AND is_reference = 0 AND codec = 'json' AND COALESCE(fingerprint = NULL, TRUE), result, NULL) FROM onerow_key WHERE tenant = '7' AND operation = 'own' AND idem_key = ? AND status IN ('complete', 'error') AND NOT COALESCE(expires_at <= UTC_TIMESTAMP(6), FALSE)`
	sqlWideCondition = sqlWideLook + ` AND status = 'complete' AND is_reference = 0 AND codec = 'json' AND COALESCE(fingerprint = NULL, TRUE) AND expires_at > UTC_TIMESTAMP(6)`
	sqlClaimFirst    = `INSERT INTO own_claim (id, no, claimed_at) VALUES (?, 0, UTC_TIMESTAMP(6))`
	sqlClaimNumber   = `UPDATE own_claim SET no = LAST_INSERT_ID() WHERE id = ?`
)

// triedEffects write the key in other ways.
func triedEffects(ctx context.Context, s *site) ([]way, error) {
	ways, err := effects(ctx, s)
	if err != nil {
		return nil, err
	}
	in := func(key, result string) func(ctx context.Context, _ int, n int64) error {
		return func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error {
				return send(ctx, tx, statement{key, []any{fmt.Sprint(n)}}, statement{text: sqlCharge}, statement{result, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}})
			})
		}
	}
	return append(ways[:3:3],
		way{name: byHand + ", in the toolkit's table, as completed", call: in(sqlEndingKey, sqlEndingResult)},
		way{name: byHand + ", in the toolkit's table, as completed and with its end", call: in(sqlEndedKey, sqlEndedResult)},
		ways[4],
	), nil
}

// triedReplays find out in other ways what is there.
func triedReplays(ctx context.Context, s *site) ([]way, error) {
	ways, err := replays(ctx, s)
	if err != nil {
		return nil, err
	}
	const there = 1000
	for n := range there {
		if err := send(ctx, s.apart, statement{sqlWideKey, []any{fmt.Sprint(n)}}, statement{sqlWideResult, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}}); err != nil {
			return nil, err
		}
	}
	asks := func(texts ...string) func(context.Context, int, int64) error {
		return func(ctx context.Context, _ int, n int64) error {
			return found(ctx, s.packet, strings.Join(texts, "; "), slices.Repeat([]any{fmt.Sprint(n % there)}, len(texts))...)
		}
	}
	refused := func(begin, end string) func(context.Context, int, int64) error {
		return func(ctx context.Context, _ int, n int64) (err error) {
			c, err := s.packet.Conn(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			err = send(ctx, c, statement{begin + sqlWideKey, []any{fmt.Sprint(n % there)}})
			if my := (*mysql.MySQLError)(nil); !errors.As(err, &my) || my.Number != 1062 {
				return fmt.Errorf("it was not refused: %w", err)
			}
			return found(ctx, c, sqlWideLook+end, fmt.Sprint(n%there))
		}
	}
	const look = byHand + ", in the toolkit's table: "
	return append(ways[:4:4],
		way{name: look + "SELECT of the result", call: asks(sqlWideLook)},
		way{name: look + "SELECT of it if the row says so, in the list", call: asks(sqlWideDecides)},
		way{name: look + "SELECT of it if the row says so, in the condition", call: asks(sqlWideCondition)},
		way{name: look + "BEGIN, refused INSERT; SELECT, COMMIT", call: refused("START TRANSACTION; ", "; COMMIT")},
		way{name: look + "refused INSERT without BEGIN; SELECT", call: refused("", "")},
		way{name: look + "INSERT IGNORE, SELECT", call: asks("INSERT IGNORE"+strings.TrimPrefix(sqlWideKey, "INSERT"), sqlWideLook)},
		way{name: look + "INSERT … ON DUPLICATE KEY UPDATE, SELECT", call: asks(sqlWideKey+" ON DUPLICATE KEY UPDATE idem_key = idem_key", sqlWideLook)},
	), nil
}

// found is an error if nothing is.
func found(ctx context.Context, db onerow.DB, text string, args ...any) error {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	n := 0
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var result []byte
			if err := rows.Scan(&result); err != nil {
				return errors.Join(err, rows.Close())
			}
			n++
		}
	}
	if err = errors.Join(rows.Err(), rows.Close()); err == nil && n == 0 {
		err = errors.New("nothing is there")
	}
	return err
}

// recordsUnindexed are records without the two indexes of the keys' table. It must come last.
func recordsUnindexed(ctx context.Context, s *site) ([]way, error) {
	ways, err := records(ctx, s)
	if err != nil {
		return nil, err
	}
	return ways, s.unindexed(ctx)
}

// unindexed drops the two indexes of the keys' table.
func (s *site) unindexed(ctx context.Context) error {
	return s.exec(ctx, "ALTER TABLE onerow_key DROP INDEX state, DROP INDEX expires_at")
}

// triedSerials write who claims a number before they take it.
func triedSerials(ctx context.Context, s *site) ([]way, error) {
	ways, err := serials(ctx, s)
	if err != nil {
		return nil, err
	}
	return append(ways[2:5:5], way{name: onePacket + ", and before it who claims it", call: func(ctx context.Context, _ int, n int64) error {
		return send(ctx, s.packet, statement{"START TRANSACTION; " + sqlClaimFirst + "; " + sqlNext + "; " + sqlInvoiceNext + "; " + sqlClaimNumber + "; COMMIT", []any{fmt.Sprint(n), n, fmt.Sprint(n)}})
	}}), nil
}

// triedTrees delete by the primary key.
func triedTrees(ctx context.Context, s *site) ([]way, error) {
	ways, err := trees(ctx, s)
	if err != nil {
		return nil, err
	}
	ways = append(ways[1:3:3], way{name: byHand + ", by the primary key", all: planted(s, "", func(ctx context.Context) error { return s.treeByHand(ctx, true) })})
	for _, target := range []time.Duration{10 * time.Millisecond, 15 * time.Millisecond, 50 * time.Millisecond} {
		ways = append(ways, way{name: fmt.Sprint("onerow, batches of ", target), all: drained(s, cascade.Config{Target: target})})
	}
	return ways, nil
}

// throttled are workers whose share of the time was set by hand.
var throttled = []struct {
	name   string
	config cascade.Config
}{
	{"a fifth of the time, batches of 10 ms", cascade.Config{Load: 0.2, Target: 10 * time.Millisecond}},
	{"15 % of the time, batches of 5 ms", cascade.Config{Load: 0.15, Target: 5 * time.Millisecond}},
	{"15 % of the time, batches of 8 ms", cascade.Config{Load: 0.15, Target: 8 * time.Millisecond}},
}

func triedUsers(period time.Duration) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		f, err := openForeground(ctx, s, max(period, long))
		if err != nil {
			return nil, err
		}
		ways := f.ways()
		ways = []way{ways[0], ways[2]}
		for _, c := range throttled {
			w := ways[1]
			w.name, w.aim, w.beside = "beside onerow's cascade, "+c.name, aim{}, f.cascade(c.config)
			ways = append(ways, w)
		}
		return ways, nil
	}
}

func triedBackground(period time.Duration) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		f, err := openForeground(ctx, s, period)
		if err != nil {
			return nil, err
		}
		ways := []way{{name: "onerow's cascade, alone", all: f.alone}, {name: "onerow's cascade, beside users", all: f.deletes(cascade.Config{})}}
		for _, c := range throttled {
			ways = append(ways, way{name: "onerow's cascade, beside users, " + c.name, all: f.deletes(c.config)})
		}
		return ways, nil
	}
}
