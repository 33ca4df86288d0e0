package adopt

import (
	"context"

	"github.com/onerow/onerow"
)

// Statements of a change, for tests that send them without goose.
var Statements = statements

type (
	// Change is what a step does, or undoes.
	Change = change
	// Filler is a backfill that has looked at the tables.
	Filler = filler
)

var (
	// New looks at the tables once, for tests of what follows.
	New = newFiller

	// ErrNameTaken and ErrLacks are why rows are left.
	ErrNameTaken = errNameTaken
	ErrLacks     = errLacks
)

// Run is the backfill without the look at the tables.
func (f *filler) Run(ctx context.Context, db onerow.DB, o Options) (Report, error) {
	return f.run(ctx, db, o)
}

// Page fills the first page, for tests that end between two pages.
func (f *filler) Page(ctx context.Context, db onerow.DB, copies bool) (pageDone, error) {
	return f.fillPage(ctx, db, position{}, copies)
}

// Rest fills all pages behind a row of the active table.
func (f *filler) Rest(ctx context.Context, db onerow.DB, after any) error {
	for at := (position{after: after}); ; {
		p, err := f.fillPage(ctx, db, at, false)
		if err != nil || p.done {
			return err
		}
		at = p.next
	}
}
