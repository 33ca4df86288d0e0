package wire

import (
	"fmt"
	"strings"
)

// Stmt is a statement that may travel with others. It answers with a number of rows, not with rows.
type Stmt struct {
	Query string
	Args  []any
	// One says that it affects exactly one row. With another number nothing behind it is run, and the error
	// is [ErrNotOneRow].
	One bool
	// Rows, if not nil, is set to the number of rows that were affected.
	Rows *int64
	// ID, if not nil, is set to what LastInsertId says of its result: the id that was generated, or what
	// LAST_INSERT_ID(expression) was given.
	ID *int64
}

// Take looks at a result.
func (s Stmt) Take(affected, id int64) error {
	if s.Rows != nil {
		*s.Rows = affected
	}
	if s.ID != nil {
		*s.ID = id
	}
	if s.One && affected != 1 {
		return fmt.Errorf("%w: %d", ErrNotOneRow, affected)
	}
	return nil
}

// Batch are statements that travel together. It reaches the session by the context of their execution,
// where no text can pretend to be one.
type Batch struct {
	Stmts []Stmt
	// Last says that COMMIT may follow.
	Last bool
	// Query is the query behind them, if there is one.
	Query string
}

// sqlOne fails with error 1690 if the statement before has affected another number of rows than one. It
// reads no table.
const sqlOne = `SELECT 18446744073709551615 + (ROW_COUNT() <> 1)`

// Text is all of the statements, with the proof that one row was affected where something follows; more says
// that it does behind the last one.
func (b *Batch) Text(more bool) (string, []any) {
	var text strings.Builder
	var args []any
	for i, s := range b.Stmts {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(s.Query)
		if b.Proves(i, more) {
			text.WriteString("; " + sqlOne)
		}
		args = append(args, s.Args...)
	}
	return text.String(), args
}

// Proves says whether a proof follows the statement at i.
func (b *Batch) Proves(i int, more bool) bool {
	return b.Stmts[i].One && (more || i < len(b.Stmts)-1)
}

// Count is how many statements they are, with the proofs.
func (b *Batch) Count(more bool) int {
	n := len(b.Stmts)
	for i := range b.Stmts {
		if b.Proves(i, more) {
			n++
		}
	}
	return n
}

// Take looks at the results, of which those at from and later are the batch's: [Batch.Count] of them.
func (b *Batch) Take(affected, ids []int64, from int, more bool) error {
	for i, s := range b.Stmts {
		if err := s.Take(affected[from], ids[from]); err != nil {
			return err
		}
		if from++; b.Proves(i, more) {
			from++
		}
	}
	return nil
}
