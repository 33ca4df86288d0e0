package repo

import (
	"cmp"
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// sqlInActive and sqlInArchive ask a table for an id, by its primary key, with a lock: at this moment.
const (
	sqlInActive  = `SELECT 1 FROM {active} WHERE {id} = ? LOCK IN SHARE MODE`
	sqlInArchive = `SELECT 1 FROM {archive} WHERE {id} = ? LOCK IN SHARE MODE`
)

// twinError is the error where the other table has another row of the id of a row that this transaction has
// locked in the table of a state; refused is what made the caller ask. One statement.
func (r *untyped) twinError(ctx context.Context, tx *onerow.Tx, state schema.State, id any, refused error) error {
	statement, other := sqlInArchive, r.res.Archive
	if state == schema.Archived {
		statement, other = sqlInActive, r.res.Active
	}
	err := onerow.QueryRow(ctx, tx, r.text(statement), []any{id}, new(int))
	if err == nil {
		return &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: other, Err: refused}
	}
	if isNoRows(err) {
		return nil
	}
	return err
}

// refuseTwin refuses a locked row that shares its id with another. That the lock has seen one is a hint, for
// its snapshot may show a row that has moved where it was. No statement, one where the hint says so.
func (r *untyped) refuseTwin(ctx context.Context, tx *onerow.Tx, h held, id any) error {
	if !h.twin {
		return nil
	}
	return r.twinError(ctx, tx, h.state, id, nil)
}

// twinFirst is the error of a move from the active table: where a row was in its way, the one of the same id.
func (r *untyped) twinFirst(ctx context.Context, tx *onerow.Tx, id any, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	return cmp.Or(r.twinError(ctx, tx, schema.Active, id, err), err)
}
