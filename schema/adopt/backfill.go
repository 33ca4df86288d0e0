package adopt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

var (
	// ErrNotReady means: the tables lack what the files before the backfill give them, or something stands
	// against the adoption. The text says what.
	ErrNotReady = errors.New("adopt: the tables are not ready for the backfill")

	errNameTaken = errors.New("adopt: the name is taken")
	errLacks     = errors.New("adopt: the row lacks a value")
)

// Options of a backfill. The zero value fills in all rows.
type Options struct {
	// Copies renames rows whose name is taken to "Name (Copy 1)" and so on, after all others have their keys.
	Copies bool
	// OnPage is told after each page what has been done so far: it may show it, and wait. Its error ends the
	// run.
	OnPage func(context.Context, Report) error
}

// Report is what a backfill has done.
type Report struct {
	// Rows that were read by the first pass; Written is how often all passes have written a row (its key is
	// one write, a time another one), Copied how many were renamed.
	Rows, Written, Copied int64
	// Behind is how much the last pass had to write: where it is not 0, others write names without keys.
	Behind int64
	// Left are rows that stay as they are, the first 100 of LeftRows, as the last pass has seen them.
	Left     []Left
	LeftRows int64
	// Whole says that the last pass has found nothing to do: each row has all that it needs.
	Whole bool
	// Table and Last are the table of the page that was filled last, and the id of its last row; empty: it
	// had none.
	Table, Last string
}

// Left is a row that the backfill has left as it is. Ids are shown as numbers, text, or hexadecimal digits.
type Left struct {
	Table, ID string
	// Owner are its tenant and owner, as far as it has any.
	Owner []string
	Name  string
	// Holder is the id of the row that has the name, or empty.
	Holder string
	// Err says why: an error of package names, that the name is taken, what the row lacks, or what the server
	// said.
	Err error
}

const (
	maxPasses = 3
	maxLeft   = 100
)

// Backfill writes what no DDL can, the keys of names and times that nobody knows, into all rows, pass after
// pass until one finds nothing to write, three at most. It may end at any time, and be begun again: what is
// done is done. Errors: [ErrNotReady], those of [Prepare], that of OnPage, and the driver's.
func Backfill(ctx context.Context, db onerow.DB, plan schema.Plan, resource string, o Options) (Report, error) {
	f, err := newFiller(ctx, db, plan, resource)
	if err != nil {
		return Report{}, err
	}
	return f.run(ctx, db, o)
}

func (f *filler) run(ctx context.Context, db onerow.DB, o Options) (all Report, err error) {
	for pass := range maxPasses {
		copies := o.Copies && pass > 0
		before := all.Copied
		if all, err = f.pass(ctx, db, all, copies, o.OnPage); err != nil {
			return all, err
		}
		all.Whole = all.Behind == 0 && all.LeftRows == 0
		if all.Behind == 0 && all.Copied == before && (all.LeftRows == 0 || !o.Copies || copies) {
			break
		}
	}
	return all, nil
}

// pass goes over all rows once, and adds to what earlier passes have done.
func (f *filler) pass(ctx context.Context, db onerow.DB, all Report, copies bool, onPage func(context.Context, Report) error) (Report, error) {
	first := all.Table == ""
	all.Behind, all.Left, all.LeftRows = 0, nil, 0 // as the last pass sees them
	for at := (position{}); ; {
		p, err := f.fillPage(ctx, db, at, copies)
		if err != nil {
			return all, err
		}
		all.Table, all.Last = p.table, p.last
		if first {
			all.Rows += int64(p.rows)
		}
		all.Written += int64(p.written)
		all.Copied += int64(p.copied)
		all.Behind += int64(p.written + p.moved)
		all.LeftRows += int64(len(p.left))
		all.Left = append(all.Left, p.left[:min(len(p.left), maxLeft-len(all.Left))]...)
		if onPage != nil {
			if err := onPage(ctx, all); err != nil {
				return all, err
			}
		}
		if p.done {
			return all, nil
		}
		at = p.next
	}
}

// show returns an id for people: a number, a text, or bytes in hexadecimal digits.
func show(id any) string {
	if raw, ok := id.([]byte); ok {
		return hex.EncodeToString(raw)
	}
	return fmt.Sprint(id)
}
