package poolfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
)

// maximum is how many active files an owner may have; owners is how many there are.
const (
	maximum = 60
	owners  = 4
)

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "file", Archive: "file_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Limits: []schema.Limit{{}},
}}}

// file is a row.
type file struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

const sqlEffects = `CREATE TABLE effect (name VARCHAR(40) NOT NULL, INDEX (name)) ENGINE=InnoDB`

// shop is the application.
type shop struct {
	rule    *limit.Rule
	files   *repo.Repo[file]
	keys    *idempotency.Keys
	numbers *serial.Series
}

func newShop(ctx context.Context, db *sql.DB) (*shop, error) {
	if err := migrations.Up(ctx, db); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	for _, query := range append(plan.DDL(), sqlEffects) {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return nil, fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	s := &shop{}
	var errs [4]error
	s.rule, errs[0] = limit.New(plan, "file", quota.Fixed(maximum))
	s.files, errs[1] = repo.New[file](plan, "file", s.rule)
	s.keys, errs[2] = idempotency.New(idempotency.Config{})
	s.numbers, errs[3] = serial.New("numbers")
	return s, errors.Join(errs[:]...)
}

// effect is work under a key.
func (s *shop) effect(ctx context.Context, db *sql.DB, name string) error {
	_, err := idempotency.Do(ctx, db, s.keys, idempotency.Key{Operation: "effect", ID: name}, func(ctx context.Context, tx *onerow.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?)", name)
		return name, err //nolint:wrapcheck // of Do
	})
	return err //nolint:wrapcheck // it is looked at
}

// allowed are errors that these verbs name.
var allowed = []error{
	onerow.ErrNotFound, onerow.ErrMoved, onerow.ErrOutcomeUnknown, repo.ErrNameTaken, repo.ErrRequestMismatch, repo.ErrGone, repo.ErrConflict, repo.ErrNotActive,
	limit.ErrLimit, limit.ErrFollow, idempotency.ErrBusy, context.DeadlineExceeded, context.Canceled,
}

func isAllowed(err error) bool {
	for _, known := range allowed {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
