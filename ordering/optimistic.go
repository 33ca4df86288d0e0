package ordering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/exactjson"
	"github.com/onerow/onerow/internal/trace"
)

// attempts is how often an optimistic update tries.
const attempts = 5

// UpdateIfUnchanged updates a row without a lock: it reads the row and its version, decides, and writes if
// the version is still that; otherwise it begins again, at most five times in all. what names the row in
// errors.
//
// read returns the row and its version; without the row the error is the caller's own. decide gets the row
// and returns what it should be; it may run several times and should depend on nothing but the row. write
// writes that if the version is the one that was read, raises it in the same UPDATE, so that the row always
// changes, and returns the number of affected rows. The result has what decide returned, which is not read
// again. The error after the last attempt is [ErrConflict] and carries the versions that lost, for [Park].
//
// Give it a pool. Each write is a transaction of its own; when the answer to its COMMIT is lost the error is
// [onerow.ErrOutcomeUnknown], and only a decide that finds its own work done in the row (or a [ByTime] guard)
// makes calling again safe. On a transaction there is one attempt: at REPEATABLE READ a second read would see
// what the first one saw.
func UpdateIfUnchanged[T any](ctx context.Context, db onerow.DB, what string,
	read func(ctx context.Context, db onerow.DB) (row T, version int64, err error),
	decide func(ctx context.Context, row T) (T, error),
	write func(ctx context.Context, db onerow.DB, row T, version int64) (affected int64, err error),
) (res onerow.Result[T], err error) {
	ctx, span := trace.Start(ctx, "ordering.UpdateIfUnchanged", slog.String("onerow.what", what))
	defer span.End(&err)
	conflict := &conflictError{what: what}
	for joined := false; len(conflict.losing) < attempts && !joined; {
		row, version, err := read(ctx, db)
		if err != nil {
			return res, errtext.Wrap(err, "ordering: read %s", what)
		}
		wanted, err := decide(ctx, row)
		if err != nil {
			return res, err
		}
		var n int64
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			joined = tx.Joined()
			n, err = write(ctx, tx, wanted, version)
			return err
		})
		if err != nil {
			return res, errtext.Wrap(err, "ordering: write %s", what)
		}
		if n > 0 {
			return onerow.Result[T]{Row: wanted, Changed: true}, nil
		}
		before, berr := textOf(row)
		after, aerr := textOf(wanted)
		if err := errors.Join(berr, aerr); err != nil {
			return res, errtext.Wrap(err, "ordering: %s", what)
		}
		conflict.losing = append(conflict.losing, losing{version, before, after})
	}
	return res, conflict
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
