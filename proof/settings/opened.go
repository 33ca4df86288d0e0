package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
)

// opened sees that [pool.Open] makes a pool that is right where any other is refused: each verb works, and
// what it has said is there when the pool is closed.
func (s setting) opened(ctx context.Context, server *devdb.Server) (verdict string, err error) {
	if err := server.CreateDatabase(ctx, "opened"); err != nil {
		return "", err
	}
	dsn, _, _ := strings.Cut(server.DSN("opened"), "?") // nothing that the setting could be hidden by
	for i, verbs := range []func(context.Context, *sql.DB) error{first, then} {
		db, err := pool.Open(dsn)
		if err != nil {
			return "", err
		}
		db.SetMaxOpenConns(1) // so that a verb meets what the one before has left in its session
		if err := errors.Join(pool.Check(ctx, db), verbs(ctx, db), db.Close()); err != nil {
			return "", fmt.Errorf("pool.Open, part %d: %w", i+1, err)
		}
	}
	return "; pool.Open works", nil
}

type project struct {
	ID     int64        `db:"id"`
	UserID int64        `db:"user_id"`
	Name   string       `db:"name"`
	Over   bool         `db:"over_quota"`
	State  schema.State `db:"state"`
}

var (
	plan = schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "over_quota"},
	}}}
	key = idempotency.Key{Tenant: "7", Operation: "charge", ID: "ä😀"}
)

// want is an error where what a verb has answered is not what it should be.
func want(err error, ok bool, what string, got any) error {
	if err != nil || !ok {
		return fmt.Errorf("%s: %+v, %w", what, got, err)
	}
	return nil
}

// first makes the tables, and writes.
func first(ctx context.Context, db *sql.DB) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, statement := range plan.DDL() {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	var ids []int64
	for _, request := range []string{"a", "b", "a"} {
		res, err := projects.Create(ctx, db, project{UserID: 7, Name: "Zoë " + request}, repo.RequestID(request))
		if err := want(err, res.Replayed == (len(ids) == 2), "Create", res); err != nil {
			return err
		}
		ids = append(ids, res.Row.ID)
	}
	if _, err := projects.Archive(ctx, db, ids[0]); err != nil {
		return err
	}
	back, err := projects.Activate(ctx, db, ids[0])
	if err := want(err, back.Row.Name == "Zoë a", "Activate", back); err != nil {
		return err
	}
	if _, err := projects.Delete(ctx, db, ids[1]); err != nil {
		return err
	}
	numbers, err := serial.New("EURO2024")
	if err != nil {
		return err
	}
	if _, err := numbers.Claim(ctx, db, "a", 3); err != nil {
		return err
	}
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	claim, _, err := idempotency.Begin[string](ctx, db, keys, key)
	if err != nil {
		return err
	}
	return keys.Complete(ctx, db, claim, "")
}

// then sees that all of it is there, in another pool, and does the work that is queued.
func then(ctx context.Context, db *sql.DB) error {
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	numbers, err := serial.New("EURO2024")
	if err != nil {
		return err
	}
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	_, out, err := idempotency.Begin[string](ctx, db, keys, key)
	if err := want(err, out != nil && out.Row == "", "Begin again", out); err != nil {
		return err
	}
	claim, err := numbers.Find(ctx, db, "a")
	if err := want(err, claim.Amount() == 3, "the claim", claim); err != nil {
		return err
	}
	for i := range 3 {
		if _, err := projects.Create(ctx, db, project{UserID: 7, Name: fmt.Sprint("more ", i)}); err != nil {
			return err
		}
	}
	limits, err := quota.New(plan, "project", func(context.Context, *onerow.Tx, any) (int, error) { return 1, nil })
	if err != nil {
		return err
	}
	flags, err := limits.Recalculate(ctx, db, 7)
	if err := want(err, flags.Changed == 3, "Recalculate", flags); err != nil {
		return err
	}
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		return err
	}
	done, err := worker.RunOnce(ctx)
	return want(err, true, "RunOnce", done)
}
