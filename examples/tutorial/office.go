package main

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/serial"
)

// setUp makes the tables, in an empty database.
func setUp(ctx context.Context, db *sql.DB) error {
	if err := migrations.Up(ctx, db); err != nil { // the toolkit's own, onerow_…
		return err
	}
	for _, table := range plan.DDL() { // yours: in an application its own migrations, see migrations.Apply
		if _, err := db.ExecContext(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

type office struct {
	shows   *repo.Repo[Show]
	tickets *repo.Repo[Ticket]
	numbers *serial.Series
}

func newOffice() (*office, error) {
	threeEach, err := limit.New(plan, "show", quota.Fixed(3))
	if err != nil {
		return nil, err
	}
	shows, err := repo.New[Show](plan, "show", threeEach)
	if err != nil {
		return nil, err
	}
	tickets, err := repo.New[Ticket](plan, "ticket")
	if err != nil {
		return nil, err
	}
	numbers, err := serial.New("ticket")
	return &office{shows, tickets, numbers}, err
}

// sell sells a seat of a show. The ticket, its number and whatever else tx writes are committed together.
func (o *office) sell(ctx context.Context, tx *onerow.Tx, order string, show int64, seat string) (Ticket, error) {
	number, err := o.numbers.Claim(ctx, tx, order, 1)
	if err != nil {
		return Ticket{}, err
	}
	sold, err := o.tickets.Create(ctx, tx, Ticket{ShowID: show, Seat: seat, Number: number.Row.From}, repo.RequestID(order))
	return sold.Row, err
}
