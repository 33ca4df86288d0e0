package adopt

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
)

// Options of a run. The zero value fills in all rows.
type Options struct {
	// Copies renames rows whose name is taken to "Name (Copy 1)" and so on, after all others have their keys.
	Copies bool
	// After is an id of the active table behind which to begin, as [Filler.Show] shows it.
	After string
	// OnPage is told of each page before the next one begins: it may show it, and wait. Its error ends the
	// run.
	OnPage func(context.Context, Page) error
}

// Report is what a run has done.
type Report struct {
	// Rows that were read by the first pass; Written is how often all passes have written a row (its key is
	// one write, a time another one), Copied how many were renamed.
	Rows, Written, Copied int64
	// Behind is how much the last pass had to write: where it is not 0, others write names without keys.
	Behind int64
	// Left are rows that stay as they are, the first 100 of LeftRows, as the last pass has seen them.
	Left     []Left
	LeftRows int64
}

// Whole says that the last pass has found nothing to do: each row has all that it needs.
func (r Report) Whole() bool { return r.Behind == 0 && r.LeftRows == 0 }

const (
	maxPasses = 3
	maxLeft   = 100
)

// Run fills in all rows, pass after pass until one finds nothing to write, three at most. It may end at any
// time, and be begun again: what is done is done. Errors: [ErrInvalidPosition], that of OnPage, and the
// driver's.
func (f *Filler) Run(ctx context.Context, db onerow.DB, o Options) (Report, error) {
	at, err := f.behind(o.After)
	if err != nil {
		return Report{}, err
	}
	var all Report
	taken := false
	for pass := range maxPasses {
		copies := o.Copies && pass > 0
		now, err := f.pass(ctx, db, at, copies, o.OnPage)
		if pass == 0 {
			all.Rows = now.Rows
		}
		all.Written, all.Copied = all.Written+now.Written, all.Copied+now.Copied
		all.Behind, all.Left, all.LeftRows = now.Behind, now.Left, now.LeftRows
		if err != nil {
			return all, err
		}
		taken = now.LeftRows > 0 && o.Copies && !copies
		if now.Behind == 0 && now.Copied == 0 && at == (position{}) && !taken {
			break
		}
		at = position{}
	}
	return all, nil
}

// pass goes over all rows once.
func (f *Filler) pass(ctx context.Context, db onerow.DB, at position, copies bool, onPage func(context.Context, Page) error) (Report, error) {
	var r Report
	for {
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

// behind reads an id as Show shows it.
func (f *Filler) behind(text string) (position, error) {
	var value any = text
	var err error
	switch {
	case text == "":
		return position{}, nil
	case f.id.Class == keytype.Bytes:
		value, err = hex.DecodeString(text)
	case f.id.Class == keytype.Integer && f.id.Unsigned:
		value, err = strconv.ParseUint(text, 10, 64)
	case f.id.Class == keytype.Integer:
		value, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return position{}, fmt.Errorf("%w: %q is no id of %s", ErrInvalidPosition, text, f.res.Name)
	}
	return position{after: value}, nil
}

// Table is the active table.
func (f *Filler) Table() string { return f.res.Active }

// Show is an id for people: a number, a text, or bytes in hexadecimal digits.
func (f *Filler) Show(id any) string {
	if raw, ok := id.([]byte); ok {
		return hex.EncodeToString(raw)
	}
	return fmt.Sprint(id)
}
