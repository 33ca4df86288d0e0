package main

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/serial"
)

// What does not grow with how many there are.
const (
	someOwners = 100_000
	someSeries = 10_000
)

// manyOwners has clients create rows of one owner, and of very many.
func manyOwners(ctx context.Context, s *site) ([]way, error) {
	projects, err := openShop(ctx, s)
	if err != nil {
		return nil, err
	}
	of := func(owners int64) func(context.Context, int, int64) error {
		return func(ctx context.Context, _ int, n int64) error {
			_, err := projects.Create(ctx, s.db, Project{UserID: 1 + n*7919%owners, Name: fmt.Sprint(owners, "/", n)}, repo.RequestID(fmt.Sprint(owners, "/", n)))
			return err
		}
	}
	return []way{
		{name: "onerow, one owner", call: of(1)},
		{name: "onerow, 100,000 owners", aim: aim{of: "onerow, one owner", share: 0.9}, call: of(someOwners)},
	}, nil
}

// manySeries has clients claim numbers of one series, and of very many.
func manySeries(ctx context.Context, s *site) ([]way, error) {
	if _, err := serials(ctx, s); err != nil { // their tables
		return nil, err
	}
	all := make([]*serial.Series, someSeries)
	for i := range all {
		var err error
		if all[i], err = serial.New(fmt.Sprint("s", i)); err != nil {
			return nil, err
		}
	}
	of := func(some []*serial.Series) func(context.Context, int, int64) error {
		return func(ctx context.Context, _ int, n int64) error {
			_, err := some[n*7919%int64(len(some))].ClaimWith(ctx, s.db, fmt.Sprint(len(some), "/", n), 1, onerow.Stmt{Query: sqlInvoiceNext, Args: []any{n}})
			return err
		}
	}
	return []way{
		{name: "onerow, one series", call: of(all[:1])},
		{name: "onerow, 10,000 series", aim: aim{of: "onerow, one series", share: 0.9}, call: of(all)},
	}, nil
}
