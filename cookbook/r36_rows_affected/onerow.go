package r36

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type purchase struct {
	ID      int64  `db:"id"`
	Address string `db:"address"`
}

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "purchase", Columns: []schema.Column{{Name: "address", Type: "VARCHAR(200) NOT NULL"}},
}}}

// Onerow reads the order, and writes it if something differs. The row's version decides, not the count.
func Onerow(ctx context.Context, db *sql.DB, order int64, address string) error {
	purchases, err := repo.New[purchase](plan, "purchase")
	if err != nil {
		return err
	}
	_, err = purchases.Update(ctx, db, order, func(p *purchase) error { p.Address = address; return nil })
	if errors.Is(err, onerow.ErrNotFound) {
		return ErrNotFound
	}
	return err
}
