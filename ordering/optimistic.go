package ordering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/exactjson"
)

// Optimistic updates a row without a lock: it reads the row and its version, decides, and
// writes if the version is still that; otherwise it begins again, a bounded number
// of times.
type Optimistic[T any] struct {
	// Attempts is how often it tries. Default 5.
	Attempts int
	// Read returns the row and its version. Without the row the error is the caller's own.
	Read func(ctx context.Context, db onerow.DB) (row T, version int64, err error)
	// Write writes the row if its version is the one that was read, and raises it in the
	// same UPDATE, so that the row always changes. It returns the number of affected
	// rows.
	Write func(ctx context.Context, db onerow.DB, row T, version int64) (affected int64, err error)
	// What names the row in errors.
	What string
}

const attempts = 5

// Update reads, decides and writes. decide gets the row and returns what it should be; it
// may run several times and should depend on nothing but the row. The result has what it
// returned, which is not read again. The error after the last attempt is [ErrConflict] and
// carries the versions that lost, for [Park].
//
// Give it a pool. Each write is a transaction of its own; when the answer to its
// COMMIT is lost the error is [onerow.ErrOutcomeUnknown], and only a decide that
// finds its own work done in the row (or a [ByTime] guard) makes calling again safe. On a
// transaction there is one attempt: at REPEATABLE READ a second read would see what
// the first one saw.
func (o Optimistic[T]) Update(ctx context.Context, db onerow.DB, decide func(ctx context.Context, row T) (T, error)) (onerow.Result[T], error) {
	var res onerow.Result[T]
	if o.Read == nil || o.Write == nil {
		return res, fmt.Errorf("%w: an optimistic update needs Read and Write", ErrInvalidArgument)
	}
	tries := o.Attempts
	if tries <= 0 {
		tries = attempts
	}
	if _, tx := db.(interface{ Commit() error }); tx {
		tries = 1
	}
	if _, tx := db.(*onerow.Tx); tx {
		tries = 1
	}
	conflict := &conflictError{what: o.What}
	for range tries {
		row, version, err := o.Read(ctx, db)
		if err != nil {
			return res, fmt.Errorf("ordering: read %s: %w", o.What, err)
		}
		wanted, err := decide(ctx, row)
		if err != nil {
			return res, err
		}
		var n int64
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			n, err = o.Write(ctx, tx, wanted, version)
			return err
		})
		if err != nil {
			return res, fmt.Errorf("ordering: write %s: %w", o.What, err)
		}
		if n > 0 {
			return onerow.Result[T]{Row: wanted, Changed: true}, nil
		}
		lost, err := losing(row, wanted, version)
		if err != nil {
			return res, fmt.Errorf("ordering: %s: %w", o.What, err)
		}
		conflict.losing = append(conflict.losing, lost)
	}
	return res, conflict
}

func losing(row, wanted any, version int64) (Losing, error) {
	before, berr := textOf(row)
	after, aerr := textOf(wanted)
	return Losing{Version: version, Row: before, Wanted: after}, errors.Join(berr, aerr)
}

// textOf is a value for people. A conflict must not get lost because JSON does not keep it, nor be decided by
// a text that says something else.
func textOf(v any) (string, error) {
	data, err := exactjson.Marshal(v)
	if errors.Is(err, exactjson.ErrLost) {
		data, err = json.Marshal(map[string]string{"error": err.Error(), "go": strings.ToValidUTF8(fmt.Sprintf("%#v", v), "\uFFFD")})
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), err // a json.RawMessage may have other bytes
}
