package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// TooLargeError is the detail of [ErrTooLarge]. It has no value's content.
type TooLargeError struct {
	// Size is that of the whole statement as it is sent, in bytes, give or take its framing.
	Size int64
	// Limit is the server's max_allowed_packet; 0 where it could not be asked, or where it was the driver's
	// own limit that refused it.
	Limit int64
	// Argument is the largest value's place in the statement, counted from 1, and ArgumentSize its
	// size. 0: it is the statement's own text that is so large.
	Argument     int
	ArgumentSize int64
	// Err is what the driver answered.
	Err error
}

// Error says what is too large, and for what.
func (e *TooLargeError) Error() string {
	what := "its text is too large"
	if e.Argument > 0 {
		what = fmt.Sprintf("the largest is value %d with %d bytes", e.Argument, e.ArgumentSize)
	}
	limit := "more than the server's max_allowed_packet"
	switch {
	case errors.Is(e.Err, mysql.ErrPktTooLarge):
		limit = "more than the driver's maxAllowedPacket"
	case e.Limit > 0:
		limit = fmt.Sprintf("the server's max_allowed_packet is %d", e.Limit)
	}
	return fmt.Sprintf("onerow: a statement of %d bytes cannot be sent, %s: %s; store less there, or raise the limit: %v", e.Size, limit, what, e.Err)
}

// Unwrap returns [ErrTooLarge] and the driver's error.
func (e *TooLargeError) Unwrap() []error { return []error{ErrTooLarge, e.Err} }

// leastLarge is the size from which on a statement at which the connection was lost is looked at. No
// server can be told to refuse less than leastLimit: what it calls too large there is its own answer.
const (
	leastLarge = 64 << 10
	leastLimit = 1 << 10
)

// large measures the statement that the connection was lost at, with its values quoted and escaped, as the
// driver interpolates them. Nobody looks at sizes before that. nil: it was not large, or err says nothing of
// the kind.
func large(err error, query string, args []any) *TooLargeError {
	class := mysqlerr.Classify(err)
	if class != mysqlerr.ConnectionLost && class != mysqlerr.TooLarge {
		return nil
	}
	e := &TooLargeError{Size: int64(len(query)), Err: err}
	for i, arg := range args {
		raw, escaped := sizes(arg)
		e.Size += escaped
		if raw > e.ArgumentSize {
			e.ArgumentSize, e.Argument = raw, i+1
		}
	}
	if e.ArgumentSize < int64(len(query)) {
		e.Argument, e.ArgumentSize = 0, 0
	}
	if e.Size < leastLarge && class != mysqlerr.TooLarge || e.Size < leastLimit {
		return nil
	}
	return e
}

// sizes of a value, as it is and as a part of the statement's text.
func sizes(arg any) (raw, escaped int64) {
	var text string
	switch v, err := driver.DefaultParameterConverter.ConvertValue(arg); v := v.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		if err != nil {
			return 0, 0
		}
		return 0, int64(len("'2006-01-02 15:04:05.000000'"))
	}
	special := 0
	for _, c := range []byte(text) {
		if strings.IndexByte("\x00\n\r\x1a'\"\\", c) >= 0 {
			special++
		}
	}
	return int64(len(text)), int64(len(text) + special + len("_binary''"))
}

// sqlLimit reads a variable.
const sqlLimit = `SELECT @@max_allowed_packet`

// ask asks the server, in another session, whether a statement that the session was lost at fits. A
// statement whose values would fit as they are, only not escaped and together, counts as too large when it is
// lost a second time: whether the driver sends them so is its setting. nil: it fits, or nobody answers. One
// statement, up to 3 where sessions are lost.
func (e *TooLargeError) ask(ctx context.Context, pool DB, err error, again bool) error {
	if errors.Is(e.Err, mysql.ErrPktTooLarge) {
		return e.as(err)
	}
	var limit int64
	for range 3 { // the pool may hand out the session that the server is about to close
		if mysqlerr.Classify(QueryRow(ctx, pool, sqlLimit, nil, &limit)) != mysqlerr.ConnectionLost {
			break
		}
		limit = 0
	}
	fits := limit == 0 || e.ArgumentSize < limit && (!again || e.Size < limit)
	if fits && mysqlerr.Classify(e.Err) != mysqlerr.TooLarge {
		return nil
	}
	found := e.as(err)
	found.Limit = limit
	return found
}

// as is the detail with what its caller is told.
func (e *TooLargeError) as(err error) *TooLargeError {
	told := *e
	told.Err = err
	return &told
}

// hint says at a joined transaction's error what may be behind it: there is no other session to ask in.
func (e *TooLargeError) hint(err error) error {
	if mysqlerr.Classify(e.Err) != mysqlerr.TooLarge {
		return fmt.Errorf("%w (the statement had %d bytes: perhaps more than the server's max_allowed_packet)", err, e.Size)
	}
	return e.as(err)
}
