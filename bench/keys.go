package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// receipt is what a charge answers.
type receipt struct {
	ID     int64 `json:"id"`
	Amount int   `json:"amount"`
}

const (
	sqlCharge = `INSERT INTO charge (amount) VALUES (7)`
	// What an application writes that keeps its own keys.
	sqlOwnKey    = `INSERT INTO own_key (id) VALUES (?)`
	sqlOwnResult = `UPDATE own_key SET result = ? WHERE id = ?`
	sqlOwnLook   = `SELECT result FROM own_key WHERE id = ?`
	sqlOwnLast   = `INSERT INTO own_key (id, result) VALUES (?, ?)`
	// The same in the toolkit's table, which lists what is in progress, purges, and tells who does it.
	sqlWideKey = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, expected_completion)
VALUES ('7', 'own', ?, 'in_progress', 1, 'aaaaaaaaaaaaaaaa', 'me', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`
	sqlWideResult = `UPDATE onerow_key SET status = 'complete', version = version + 1, completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR,
  expected_completion = NULL, codec = 'json', result = ? WHERE tenant = '7' AND operation = 'own' AND idem_key = ?`
)

var chargeTables = []string{
	"DROP TABLE IF EXISTS charge, own_key", "DELETE FROM onerow_key",
	"CREATE TABLE charge (id BIGINT AUTO_INCREMENT PRIMARY KEY, amount INT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE own_key (id VARCHAR(100) PRIMARY KEY, result VARBINARY(500) NULL) ENGINE=InnoDB",
}

func charge(ctx context.Context, tx *onerow.Tx) (receipt, error) {
	res, err := tx.ExecContext(ctx, sqlCharge)
	if err != nil {
		return receipt{}, err
	}
	id, err := res.LastInsertId()
	return receipt{id, 7}, err
}

func newKey(n int64) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "charge", ID: fmt.Sprint(n)}
}

func openKeys(ctx context.Context, s *site) (*idempotency.Keys, error) {
	if err := s.exec(ctx, chargeTables...); err != nil {
		return nil, err
	}
	if s.redis != nil { // the keys of the server before
		if err := s.redis.FlushAll(ctx).Err(); err != nil {
			return nil, err
		}
	}
	return idempotency.New(idempotency.Config{Keep: time.Hour})
}

func oneCharge(s *site) way {
	return way{name: "a transaction with one INSERT", call: func(ctx context.Context, _ int, _ int64) error {
		return inTx(ctx, s.db, func(tx *sql.Tx) error { return send(ctx, tx, statement{text: sqlCharge}) })
	}}
}

// effects charge once for each key, and remember the receipt.
func effects(ctx context.Context, s *site) ([]way, error) {
	keys, err := openKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	ways := []way{
		oneCharge(s),
		{name: byHand, call: func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error {
				return send(ctx, tx, statement{sqlOwnKey, []any{fmt.Sprint(n)}}, statement{text: sqlCharge}, statement{sqlOwnResult, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}})
			})
		}},
		{name: byHand + ", in the toolkit's table", call: func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error {
				return send(ctx, tx, statement{sqlWideKey, []any{fmt.Sprint(n)}}, statement{text: sqlCharge}, statement{sqlWideResult, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}})
			})
		}},
		{name: byHand + ", key last", call: func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error {
				return send(ctx, tx, statement{text: sqlCharge}, statement{sqlOwnLast, []any{fmt.Sprint(n), `{"id":1,"amount":7}`}})
			})
		}},
		{name: "onerow, Do", aim: aim{of: byHand, share: 1}, call: func(ctx context.Context, _ int, n int64) error {
			_, err := idempotency.Do(ctx, s.db, keys, newKey(n), charge)
			return err
		}},
	}
	if s.redis != nil {
		ways = append(ways, way{name: "Redis SET NX before the transaction, not atomic", call: func(ctx context.Context, c int, n int64) error {
			key := fmt.Sprint("effect/", n)
			if ok, err := s.redis.SetNX(ctx, key, "", time.Hour).Result(); err != nil || !ok {
				return fmt.Errorf("%s: %t, %w", key, ok, err)
			}
			if err := ways[0].call(ctx, c, n); err != nil {
				return err
			}
			return s.redis.Set(ctx, key, `{"id":1,"amount":7}`, time.Hour).Err()
		}})
	}
	return ways, nil
}

// effectsUnindexed are effects without the two indexes of the keys' table, by which what is in progress is
// listed and what has expired is purged: what they cost. It must come last.
func effectsUnindexed(ctx context.Context, s *site) ([]way, error) {
	ways, err := effects(ctx, s)
	if err != nil {
		return nil, err
	}
	return ways[:5], s.unindexed(ctx)
}

// replays ask again for what is there.
func replays(ctx context.Context, s *site) ([]way, error) {
	keys, err := openKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	const there = 1000
	for n := range int64(there) {
		out, err := idempotency.Do(ctx, s.apart, keys, newKey(n), charge)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf(`{"id":%d,"amount":7}`, out.Row.ID)
		if err := send(ctx, s.apart, statement{"INSERT INTO own_key (id, result) VALUES (?, ?)", []any{fmt.Sprint(n), text}}); err != nil {
			return nil, err
		}
		if s.redis != nil {
			if err := s.redis.Set(ctx, fmt.Sprint("replay/", n), text, time.Hour).Err(); err != nil {
				return nil, err
			}
		}
	}
	again := func(ctx context.Context, keys *idempotency.Keys, n int64) error {
		out, err := idempotency.Do(ctx, s.db, keys, newKey(n%there), charge)
		if err == nil && !out.Replayed {
			err = fmt.Errorf("%d was not there", n%there)
		}
		return err
	}
	prepared, err := s.db.PrepareContext(ctx, sqlOwnLook)
	if err != nil {
		return nil, err
	}
	const look = "SELECT by the key"
	ways := []way{
		{name: look, call: func(ctx context.Context, _ int, n int64) error {
			var text []byte
			return s.db.QueryRowContext(ctx, sqlOwnLook, fmt.Sprint(n%there)).Scan(&text)
		}},
		{name: "the same, prepared", call: func(ctx context.Context, _ int, n int64) error {
			var text []byte
			return prepared.QueryRowContext(ctx, fmt.Sprint(n%there)).Scan(&text)
		}},
		{name: "onerow, Do of what was seen", aim: aim{of: look, share: 0.85}, call: func(ctx context.Context, _ int, n int64) error { return again(ctx, keys, n) }},
		{name: "onerow, Do of what another process did", aim: aim{of: look, share: 0.45}, call: func(ctx context.Context, _ int, n int64) error {
			stranger, err := idempotency.New(idempotency.Config{Keep: time.Hour})
			if err != nil {
				return err
			}
			return again(ctx, stranger, n)
		}},
	}
	if s.redis != nil {
		ways = append(ways, way{name: "Redis GET", call: func(ctx context.Context, _ int, n int64) error {
			return s.redis.Get(ctx, fmt.Sprint("replay/", n%there)).Err()
		}})
	}
	return ways, nil
}

// records claim a key, do something in a transaction of its own, and write down what came of it.
func records(ctx context.Context, s *site) ([]way, error) {
	keys, err := openKeys(ctx, s)
	if err != nil {
		return nil, err
	}
	one := oneCharge(s)
	return []way{
		one,
		{name: byHand, call: func(ctx context.Context, c int, n int64) error {
			if err := send(ctx, s.db, statement{sqlOwnKey, []any{fmt.Sprint(n)}}); err != nil {
				return err
			}
			if err := one.call(ctx, c, n); err != nil {
				return err
			}
			return send(ctx, s.db, statement{sqlOwnResult, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}})
		}},
		{name: byHand + ", in the toolkit's table", call: func(ctx context.Context, c int, n int64) error {
			if err := send(ctx, s.db, statement{sqlWideKey, []any{fmt.Sprint(n)}}); err != nil {
				return err
			}
			if err := one.call(ctx, c, n); err != nil {
				return err
			}
			return send(ctx, s.db, statement{sqlWideResult, []any{`{"id":1,"amount":7}`, fmt.Sprint(n)}})
		}},
		{name: "onerow, Begin and Complete", aim: aim{of: byHand, share: 1}, call: func(ctx context.Context, _ int, n int64) error {
			claim, _, err := idempotency.Begin[receipt](ctx, s.db, keys, newKey(n))
			if err != nil {
				return err
			}
			var r receipt
			if err := onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) (err error) { r, err = charge(ctx, tx); return err }); err != nil {
				return err
			}
			return keys.Complete(ctx, s.db, claim, r)
		}},
	}, nil
}
