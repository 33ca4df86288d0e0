package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// ErrIDReused means: the other table of the resource has another row of this id, so
// neither was touched. errors.As with *[IDReusedError] says where, and what to do.
var ErrIDReused = errors.New("repo: two rows have this id")

// IDReusedError is the detail of [ErrIDReused]. Ids come from AUTO_INCREMENT of the
// active table, which falls below the ids of archived rows when that table is rebuilt by
// copying it, or restored without its definition.
type IDReusedError struct {
	// Resource and ID are the row that the verb was called for; ID is of the repository's ID type.
	Resource string
	ID       any
	// Active and Table are the table that gives the ids, and the one that has another row
	// of this id.
	Active, Table string
	// Err is the driver's error, or nil where nothing was written yet.
	Err error
}

// Error says what to do.
func (e *IDReusedError) Error() string {
	return fmt.Sprintf("repo: %s %v: %s has another row of this id, so neither was touched; raise AUTO_INCREMENT of %s above the highest id of both tables, "+
		"and give one of the two rows, with what refers to it, another id", e.Resource, e.ID, e.Table, e.Active)
}

// Is makes errors.Is(err, ErrIDReused) true.
func (e *IDReusedError) Is(target error) bool { return target == ErrIDReused }

// Unwrap returns the driver's error.
func (e *IDReusedError) Unwrap() error { return e.Err }

// twinColumn says of a row of one table whether the other has its id too. It locks
// nothing, and may be read from a snapshot in which a row that has moved is still where
// it was: it is a hint, which twin asks about.
func (r *tables) twinColumn(s side) string {
	other, _ := r.other(s)
	if other.table == "" {
		return "0"
	}
	id := ident.Quote(r.res.ID)
	return fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS twin WHERE twin.%s = %s.%[2]s)", other.table, id, s.table)
}

// twinSQL asks the other table, by its primary key, with a lock: at this moment.
func (r *tables) twinSQL(s side) string {
	other, _ := r.other(s)
	return fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ? LOCK IN SHARE MODE", other.table, ident.Quote(r.res.ID))
}

// other is the other table and its name; both empty where a resource has but one.
func (r *tables) other(s side) (other side, name string) {
	switch {
	case r.res.Archive == "":
		return other, ""
	case s.state == schema.Active:
		return r.archive, r.res.Archive
	}
	return r.active, r.res.Active
}

// twin says whether the other table has another row of the id of a row that this
// transaction has locked; refused is what made the caller ask. One statement.
func (r *tables) twin(ctx context.Context, tx *onerow.Tx, s side, id any, refused error) error {
	var one int
	err := onerow.QueryRow(ctx, tx, r.twinSQL(s), []any{id}, &one)
	switch {
	case isNoRows(err):
		return nil
	case err != nil:
		return err
	}
	_, name := r.other(s)
	return &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: name, Err: refused}
}

// single refuses a locked row that shares its id with another. No statement, one where
// the hint says so.
func (r *tables) single(ctx context.Context, tx *onerow.Tx, h held, id any) error {
	if !h.twin {
		return nil
	}
	return r.twin(ctx, tx, r.sideOf(h.state), id, nil)
}

func (r *tables) sideOf(state schema.State) side {
	if state == schema.Archived {
		return r.archive
	}
	return r.active
}
