package repo

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/schema"
)

// Page is a part of a list.
type Page[T any] struct {
	// Items in the order of the list.
	Items []T
	// Next continues the list. Empty: there is no more.
	Next Cursor
}

// AnyState asks for active and archived rows in one list. A resource without an archive has active ones only.
const AnyState schema.State = "any"

// PageOptions say which rows a list has, in which order, and which part of it is wanted.
type PageOptions struct {
	// Where are values that columns must have. Default: any.
	Where Where
	// Sort is the order. Default: by the id.
	Sort Sort
	// State is [schema.Active] (the default), [schema.Archived] or [AnyState].
	State schema.State
	// After is the Next of the page before.
	After Cursor
	// Limit is how many rows are wanted at most. Default 50, at most 500.
	Limit int
}

// Where are values of columns: {"status": "open"} has the rows that are open, by the column's collation. nil
// is NULL. A value is of a Go type that a field for the column can have; one that no row can have is
// [ErrInvalidFilter].
type Where map[string]any

// Sort is the order of a list: by a column, and by the id where rows have the same value, both in one
// direction. NULL comes before all values.
type Sort struct {
	// Column is one of the resource's, the toolkit's among them: "created_at". Default: the id.
	Column string
	// Descending turns the order around.
	Descending bool
	// From and To leave out what comes before From and what is not before To, whatever the direction; rows
	// that are NULL too. nil: no bound. They may change between two pages.
	From, To any
}

const (
	defaultLimit = 50
	maxLimit     = 500
)

// List returns a page of an owner's rows, without those that are hidden by a deletion in its grace period:
//
//	page, err := tickets.List(ctx, db, owner, repo.PageOptions{
//		Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at", Descending: true}, State: repo.AnyState})
//
// A page continues behind the last row of the one before, by its value and its id (keyset), so its cost does
// not grow with its position: it reads one entry of an index more than it has rows, with both states twice as
// many, however many rows there are and have the same value.
//
// A row that stays as it is comes exactly once in the pages of a list, whatever rows come and go meanwhile;
// with AnyState also one that only moves between the tables. A row whose values change between two pages
// comes at its old place, at its new one, at both or at none; each write changes updated_at and version. A
// page is of one moment: no row is in it twice.
//
// The plan must have declared an index that begins with the owner's columns and those of Where, in any order,
// and goes on with the column of Sort and the id; for archived rows too, one that says so
// ([schema.Index.Archived]). Otherwise the answer is a [NoIndexError], which is an [ErrUnsupported] and says
// what to add. A list by the id without Where needs none that is declared. Columns are integers, DECIMAL,
// DATE, DATETIME, CHAR, VARCHAR, BINARY or VARBINARY, in Where ENUM too; what a caller compares with text
// that is not utf8mb4 is ASCII. [ErrInvalidCursor] is a cursor of another list.
//
// One statement. A list that is not just by the id, ascending, of one state, names its index to MariaDB:
// where the database has it under another name than the plan's DDL that is one more, and MariaDB before 11
// may then read all that is before the page.
func (r *Of[T, ID, Owner]) List(ctx context.Context, db onerow.DB, owner Owner, o PageOptions) (_ Page[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.List")
	defer span.End(&err)
	return pageOf[T](r.untyped.list(ctx, db, owner, o))
}

func (r *untyped) list(ctx context.Context, db onerow.DB, owner any, o PageOptions) (page, error) {
	l, err := r.listing(owner, o)
	if err != nil {
		return page{}, r.wrap("list", nil, err)
	}
	return r.listPage(ctx, db, l, o)
}

// listPage reads the page of a list that o asks for. It forces the index of a list that the server might read
// another way, and reads again where there is none of its name.
func (r *untyped) listPage(ctx context.Context, db onerow.DB, l *listing, o PageOptions) (page, error) {
	after, err := r.position(l, o.After)
	if err != nil {
		return page{}, r.wrap("list", nil, err)
	}
	limit := defaultLimit
	if o.Limit > 0 {
		limit = min(o.Limit, maxLimit)
	}
	p, err := r.readPage(ctx, db, l, after, limit, !l.plain())
	if mysqlerr.NoSuchIndex(err) {
		p, err = r.readPage(ctx, db, l, after, limit, false)
	}
	return p, r.wrap("list", nil, err)
}

type page struct {
	items reflect.Value // a []T, invalid where there is none
	next  Cursor
}

// readPage reads one row more than the page has, to see whether another page follows.
func (r *untyped) readPage(ctx context.Context, db onerow.DB, l *listing, after position, limit int, force bool) (page, error) {
	p := page{items: reflect.New(reflect.SliceOf(r.typ)).Elem()}
	var last Cursor // of the page's last row
	var version int64
	var state schema.State
	var value sql.NullString // by which the list is ordered
	more := []any{&version, &state, &value}
	if len(l.parts) > 1 {
		more = append(more, new(any), new(any)) // by which the server orders
	}
	query, args := r.pageSQL(l, after, limit+1, force)
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) (err error) {
		n := p.items.Len()
		if n == limit {
			p.next = last
			return nil
		}
		p.items.Grow(1)
		p.items.SetLen(n + 1)
		row := p.items.Index(n)
		if err := r.scanRow(rows, row, more...); err != nil {
			return err
		}
		r.setState(row, state)
		if n+1 == limit {
			last, err = r.cursor(l, row, value)
		}
		return err
	})
	return p, err
}

// ListByName returns a page of an owner's active rows in the order of their name keys: those whose names
// begin with prefix, in any spelling that has the same key, or all where it is empty. A prefix that ends in
// the middle of what the key leaves out (white space, a file's extension) finds what begins with the rest. A
// page continues behind the last name (keyset). Archived rows are [ErrUnsupported]: several may have one name
// there. One statement, over the unique index (owner, name key); see List for MariaDB.
func (r *Of[T, ID, Owner]) ListByName(ctx context.Context, db onerow.DB, owner Owner, prefix string, o PageOptions) (_ Page[T], err error) {
	ctx, span := r.untyped.start(ctx, "repo.ListByName")
	defer span.End(&err)
	return pageOf[T](r.untyped.listByName(ctx, db, owner, prefix, o))
}

func (r *untyped) listByName(ctx context.Context, db onerow.DB, owner any, prefix string, o PageOptions) (page, error) {
	switch {
	case !r.res.Named():
		return page{}, fmt.Errorf("%w: %q has no names to list by", ErrUnsupported, r.res.Name)
	case len(o.Where) > 0 || o.Sort != (Sort{}):
		return page{}, fmt.Errorf("%w: a list of %q by name has no Where and no Sort", ErrUnsupported, r.res.Name)
	case o.State != schema.Active && o.State != "":
		return page{}, fmt.Errorf("%w: only active rows of %q are in an index of names", ErrUnsupported, r.res.Name)
	}
	l, err := r.nameListing(owner, prefix)
	if err != nil {
		return page{}, r.wrap("list", nil, err)
	}
	return r.listPage(ctx, db, l, o)
}
