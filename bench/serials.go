package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/serial"
)

const (
	sqlNext    = `UPDATE own_counter SET next_no = LAST_INSERT_ID(next_no) + 1 WHERE series = 'a'`
	sqlInvoice = `INSERT INTO invoice (no, about) VALUES (?, ?)`
	// Behind sqlNext, or as a statement of ClaimWith.
	sqlInvoiceNext = `INSERT INTO invoice (no, about) VALUES (LAST_INSERT_ID(), ?)`
	// So that who asks again is told the same number.
	sqlOwnClaim = `INSERT INTO own_claim (id, no, claimed_at) VALUES (?, LAST_INSERT_ID(), UTC_TIMESTAMP(6))`
)

// serials give invoices the numbers of one series: by the engine, which leaves gaps, or without.
func serials(ctx context.Context, s *site) ([]way, error) {
	if err := s.exec(ctx, "DROP TABLE IF EXISTS invoice, numbered, own_counter, own_claim", "DELETE FROM onerow_serial_claim", "DELETE FROM onerow_serial",
		"CREATE TABLE invoice (no BIGINT, about BIGINT NOT NULL, KEY (no)) ENGINE=InnoDB",
		"CREATE TABLE numbered (no BIGINT AUTO_INCREMENT PRIMARY KEY, about BIGINT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE own_counter (series VARCHAR(20) PRIMARY KEY, next_no BIGINT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE own_claim (id VARCHAR(100) PRIMARY KEY, no BIGINT NOT NULL, claimed_at DATETIME(6) NOT NULL) ENGINE=InnoDB",
		"INSERT INTO own_counter VALUES ('a', 1)"); err != nil {
		return nil, err
	}
	series, err := serial.New("a")
	if err != nil {
		return nil, err
	}
	claim := func(amount int64) func(context.Context, int, int64) error {
		return func(ctx context.Context, _ int, n int64) error {
			_, err := series.ClaimWith(ctx, s.db, fmt.Sprint("invoice/", n), amount, onerow.Stmt{Query: sqlInvoiceNext, Args: []any{n}})
			return err
		}
	}
	apart := func(ctx context.Context, _ int, n int64) error {
		return onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
			got, err := series.Claim(ctx, tx, fmt.Sprint("order/", n), 1)
			if err != nil {
				return err
			}
			return packet.ExecLast(ctx, tx, onerow.Stmt{Query: sqlInvoice, Args: []any{got.Row.From, n}})
		})
	}
	ways := []way{
		{name: "AUTO_INCREMENT, with gaps", call: func(ctx context.Context, _ int, n int64) error {
			return send(ctx, s.db, statement{"INSERT INTO numbered (about) VALUES (?)", []any{n}})
		}},
		{name: byHand, call: func(ctx context.Context, _ int, n int64) error {
			return inTx(ctx, s.db, func(tx *sql.Tx) error {
				res, err := tx.ExecContext(ctx, sqlNext)
				if err != nil {
					return err
				}
				no, err := res.LastInsertId()
				if err != nil {
					return err
				}
				return send(ctx, tx, statement{sqlInvoice, []any{no, n}})
			})
		}},
		{name: onePacket, call: func(ctx context.Context, _ int, n int64) error {
			return send(ctx, s.packet, statement{"START TRANSACTION; " + sqlNext + "; " + sqlInvoiceNext + "; COMMIT", []any{n}})
		}},
		{name: onePacket + ", and who has claimed it", call: func(ctx context.Context, _ int, n int64) error {
			return send(ctx, s.packet, statement{"START TRANSACTION; " + sqlNext + "; " + sqlInvoiceNext + "; " + sqlOwnClaim + "; COMMIT", []any{n, fmt.Sprint(n)}})
		}},
		{name: "onerow, ClaimWith", aim: aim{of: onePacket, share: 1}, call: claim(1)},
		{name: "onerow, Claim in a transaction", call: apart},
		{name: "onerow, ten numbers a call", call: claim(10)},
	}
	if s.redis != nil {
		ways = append(ways, way{name: "Redis INCR, with gaps", call: func(ctx context.Context, _ int, n int64) error {
			no, err := s.redis.Incr(ctx, "serial").Result()
			if err != nil {
				return err
			}
			return send(ctx, s.db, statement{sqlInvoice, []any{no, n}})
		}})
	}
	return ways, nil
}
