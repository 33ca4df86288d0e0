package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
)

// The names of ways that aims refer to.
const (
	byHand    = "by hand"
	onePacket = "by hand, in one packet"
)

// works are all that is measured.
func works(o options) []work {
	return []work{
		{"create with a quota's mark", 1, creates(1)},
		{"create with a quota's mark, one owner", 64, creates(64)},
		{"create, all of one name", 32, contests},
		{"activate, the name taken", 1, activations},
		{"a quota of 10,000 rows moves by one", 1, quotas},
		{"effect once for each key", 16, effects},
		{"replay of a key", 16, replays},
		{"two-step record", 16, records},
		{"serial numbers of one series", 16, serials},
		{"jobs with nothing below", 8, jobs(o.Jobs)},
		{"a tree of 10,201 rows", 1, trees},
		{"users at a fifth of what the server can do", atOnce, users(o.Period)},
		{"a cascade beside such users", atOnce, background(o.Period)},
		{"width: create among owners", 16, manyOwners},
		{"width: serial numbers among series", 16, manySeries},
		{"effect once for each key, no index beside the primary key", 16, effectsUnindexed},
	}
}

// inTx is a transaction by hand.
func inTx(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// send sends statements, one after the other.
func send(ctx context.Context, db onerow.DB, statements ...statement) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

type statement struct {
	text string
	args []any
}
