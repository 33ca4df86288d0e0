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
	// OnPage is told of each page before the next one begins: it may show it, and wait. Its error ends the
	// run.
	OnPage func(context.Context, Page) error
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
		now, err := f.pass(ctx, db, copies, o.OnPage)
		if pass > 0 {
			now.Rows = all.Rows
		}
		now.Written, now.Copied = all.Written+now.Written, all.Copied+now.Copied
		copied := now.Copied > all.Copied
		if all = now; err != nil {
			return all, err
		}
		all.Whole = all.Behind == 0 && all.LeftRows == 0
		if all.Behind == 0 && !copied && (all.LeftRows == 0 || !o.Copies || copies) {
			break
		}
	}
	return all, nil
}

// pass goes over all rows once.
func (f *filler) pass(ctx context.Context, db onerow.DB, copies bool, onPage func(context.Context, Page) error) (r Report, err error) {
	for at := (position{}); ; {
		p, err := f.fillPage(ctx, db, at, copies)
		if err != nil {
			return r, err
		}
		r.Rows += int64(p.Rows)
		r.Written += int64(p.Written)
		r.Copied += int64(p.Copied)
		r.Behind += int64(p.Written + p.Moved)
		r.LeftRows += int64(len(p.Left))
		r.Left = append(r.Left, p.Left[:min(len(p.Left), maxLeft-len(r.Left))]...)
		if onPage != nil {
			if err := onPage(ctx, p); err != nil {
				return r, err
			}
		}
		if p.Done {
			return r, nil
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
