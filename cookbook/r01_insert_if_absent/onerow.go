package r01

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type account struct {
	ID     int64  `db:"id"`
	ShopID int64  `db:"shop_id"`
	Email  string `db:"name"`
}

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "account", Archive: "account_archive", Owner: "shop_id", Label: schema.Label{Column: "name"},
}}}

// Onerow makes the account, or is told who has the address in this shop.
func Onerow(ctx context.Context, db *sql.DB, email string) (id int64, err error) {
	accounts, err := repo.New[account](plan, "account")
	if err != nil {
		return 0, err
	}
	res, err := accounts.Create(ctx, db, account{ShopID: 7, Email: email})
	var taken *repo.NameTakenError
	if errors.As(err, &taken) {
		return taken.ID.(int64), nil
	}
	return res.Row.ID, err
}
