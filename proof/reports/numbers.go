package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// sameMoment validates orders at the same moment, each of them twice; every fourth fails behind its claim.
func sameMoment(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, schema.Plan{}, "CREATE TABLE invoice (id BIGINT AUTO_INCREMENT PRIMARY KEY, order_id INT NOT NULL, no BIGINT NOT NULL)"); err != nil { // no key holds the numbers
		return err
	}
	numbers, err := serial.New("invoice/2026")
	if err != nil {
		return err
	}
	const orders = 40
	declined := errors.New("the payment was declined")
	s.db.SetMaxOpenConns(16)
	errs := together(2*orders, func(i int) error {
		order := i / 2
		err := onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
			got, err := numbers.Claim(ctx, tx, fmt.Sprint("order ", order), 1)
			if err != nil || got.Replayed {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO invoice (order_id, no) VALUES (?, ?)", order, got.Row.From); err != nil {
				return err
			}
			if order%4 == 3 {
				return declined
			}
			return nil
		})
		if order%4 == 3 && errors.Is(err, declined) {
			return nil
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	const made = orders * 3 / 4
	found, err := gaps.Find(ctx, s.db, numbers)
	return first(err, unless(gaps.Complete(found), "%+v", found),
		s.want(ctx, made, "SELECT COUNT(*) FROM invoice"), s.want(ctx, made, "SELECT COUNT(DISTINCT no) FROM invoice"),
		s.want(ctx, made, "SELECT MAX(no) FROM invoice"), s.want(ctx, made, "SELECT COUNT(DISTINCT order_id) FROM invoice"))
}
