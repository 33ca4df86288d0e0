package brokenfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/repo"
)

// client calls, and shares nothing with the others but limits, accounts and the series.
type client struct {
	*world
	number int
	r      *rand.Rand
	calls  int
	mine   []*call // projects that it has created, and not deleted
	gone   []*call // and deleted, and not restored
}

// call makes one call and writes down what it was told. A context of 20 s is longer than all attempts take.
func (c *client) call(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	c.calls++
	entry := &call{token: fmt.Sprintf("%d-%d", c.number, c.calls)}
	db := c.pools[c.r.IntN(len(c.pools))]
	var err error
	switch kind := c.r.IntN(12); {
	case kind < 3:
		err = c.create(ctx, db, entry)
	case kind == 3:
		err = c.together(ctx, db, entry)
	case kind == 4:
		err = c.update(ctx, db, entry)
	case kind < 7:
		err = c.effect(ctx, db, entry)
	case kind == 7:
		entry.kind = claimed
		got, cerr := c.shop.numbers.Claim(ctx, db, entry.token, 1)
		entry.id, err = got.Row.From, cerr
	case kind < 10 && len(c.mine) > 2:
		err = c.remove(ctx, db, entry)
	case kind == 10 && len(c.gone) > 4:
		err = c.restore(ctx, db, entry)
	case len(c.mine) > 0:
		c.hang(ctx, db)
		return
	default:
		return
	}
	if entry.outcome = c.outcome(err); err != nil {
		entry.err = fmt.Errorf("%v: %w", c.now.Load(), err)
	}
	c.book.add(entry)
	if err == nil && (entry.kind == created || entry.kind == together || entry.kind == restored) {
		c.mine = append(c.mine, entry)
	}
	if err != nil && c.r.IntN(2) == 0 {
		time.Sleep(50 * time.Millisecond)
	}
}

// outcome says what an error means: what is not unknown has done nothing.
func (c *client) outcome(err error) outcome {
	switch {
	case err == nil:
		return done
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		c.book.say(c.now.Load().(string), err)
		return unknown
	}
	c.book.say(c.now.Load().(string), err)
	return refused
}

func (c *client) owner() int64 { return int64(c.r.IntN(owners) + 1) }

func (c *client) create(ctx context.Context, db *sql.DB, entry *call) error {
	entry.kind = created
	res, err := c.shop.projects.Create(ctx, db, project{UserID: c.owner(), Name: entry.token}, repo.RequestID(entry.token))
	entry.id = res.Row.ID
	return err //nolint:wrapcheck // it is looked at
}

// together is all or nothing: a ledger's row, a claim, and perhaps a project.
func (c *client) together(ctx context.Context, db *sql.DB, entry *call) error {
	entry.kind = together
	owner := c.owner()
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO ledger (token) VALUES (?)", entry.token); err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		res, err := c.shop.projects.Create(ctx, tx, project{UserID: owner, Name: entry.token}, repo.RequestID(entry.token))
		if err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		entry.id = res.Row.ID
		_, err = c.shop.numbers.Claim(ctx, tx, entry.token, 2)
		return err //nolint:wrapcheck // it is looked at
	})
}

func (c *client) update(ctx context.Context, db *sql.DB, entry *call) error {
	entry.kind, entry.account = plain, int64(c.r.IntN(3)+1)
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := onerow.AffectOne(ctx, tx, "UPDATE account SET n = n + 1 WHERE id = ?", entry.account); err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO ledger (token, no) VALUES (?, ?)", entry.token, entry.account)
		return err //nolint:wrapcheck // it is looked at
	})
}

func (c *client) effect(ctx context.Context, db *sql.DB, entry *call) error {
	entry.kind = effects
	_, err := idempotency.Do(ctx, db, c.shop.keys, idempotency.Key{Operation: "effect", ID: entry.token}, func(ctx context.Context, tx *onerow.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?)", entry.token)
		return entry.token, err //nolint:wrapcheck // of Do
	})
	return err //nolint:wrapcheck // it is looked at
}

// hang puts screens below a project. What is unknown of them is counted when the project is deleted.
func (c *client) hang(ctx context.Context, db *sql.DB) {
	p := c.mine[c.r.IntN(len(c.mine))]
	p.grown = true
	for range 1 + c.r.IntN(15) {
		if _, err := c.shop.screens.Create(ctx, db, screen{ProjectID: p.id, Note: strings.Repeat("x", 50+c.r.IntN(3000))}); err != nil {
			c.outcome(err)
			return
		}
	}
}

// remove deletes one of the caller's projects. Nobody puts screens below it meanwhile, so that they can be
// counted.
func (c *client) remove(ctx context.Context, db *sql.DB, entry *call) error {
	entry.kind = deleted
	i := c.r.IntN(len(c.mine))
	p := c.mine[i]
	entry.id, entry.token, entry.kids = p.id, p.token, -1
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM screen WHERE project_id = ?", p.id).Scan(&entry.kids); err != nil {
		return err //nolint:wrapcheck // nothing was deleted
	}
	res, err := c.shop.projects.Delete(ctx, db, p.id)
	entry.job = res.JobID
	if o := errors.Is(err, onerow.ErrOutcomeUnknown); err == nil || o {
		c.mine = append(c.mine[:i], c.mine[i+1:]...)
		if !o {
			c.gone = append(c.gone, entry)
		}
	}
	return err //nolint:wrapcheck // it is looked at
}

// restore brings back what was deleted, as far as it is deleted. One that failed is called again at the end.
func (c *client) restore(ctx context.Context, db *sql.DB, entry *call) error {
	i := c.r.IntN(len(c.gone))
	gone := c.gone[i]
	entry.kind, entry.id, entry.token, entry.job, entry.kids = restored, gone.id, gone.token, gone.job, gone.kids
	c.gone = append(c.gone[:i], c.gone[i+1:]...)
	_, _, err := recover.Job(ctx, db, c.shop.plan, gone.job, recover.Options{Batch: 5})
	return err //nolint:wrapcheck // it is looked at
}
