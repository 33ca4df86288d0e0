package adopt

import (
	"context"

	"github.com/onerow/onerow"
)

// Statements of a change, for tests that send them without goose.
var Statements = statements

// Page fills the first page, for tests that end between two pages.
func (f *Filler) Page(ctx context.Context, db onerow.DB, copies bool) (Page, error) {
	return f.fillPage(ctx, db, position{}, copies)
}
