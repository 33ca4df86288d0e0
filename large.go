package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

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

// Is makes errors.Is(err, ErrTooLarge) true.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// Unwrap returns the driver's error.
func (e *TooLargeError) Unwrap() error { return e.Err }

// leastLarge is the size from which on a statement at which the connection was lost is looked at. No
// server can be told to refuse less than leastLimit: what it calls too large there is its own answer.
const (
	leastLarge = 64 << 10
	leastLimit = 1 << 10
)

// largeStatement is one at which the connection was lost. Nobody looks at sizes before that.
type largeStatement struct {
	err      error
	size     int64 // with its values quoted and escaped, as the driver interpolates them
	argument int   // the largest, from 1 on
	raw      int64 // its size as it is
}

// large measures the statement that err was met at. nil: it was not large, or err says nothing of the kind.
func large(err error, query string, args []any) *largeStatement {
	class := mysqlerr.Classify(err)
	if class != mysqlerr.ConnectionLost && class != mysqlerr.TooLarge {
		return nil
	}
	l := &largeStatement{err: err, size: int64(len(query))}
	for i, arg := range args {
		raw, escaped := sizes(arg)
		l.size += escaped
		if raw > l.raw {
			l.raw, l.argument = raw, i+1
		}
	}
	if l.raw < int64(len(query)) {
		l.argument, l.raw = 0, 0
	}
	if l.size < leastLarge && class != mysqlerr.TooLarge || l.size < leastLimit {
		return nil
	}
	return l
}

// sizes of a value, as it is and as a part of the statement's text.
func sizes(arg any) (raw, escaped int64) {
	value, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if err != nil {
		return 0, 0
	}
	special := 0
	switch v := value.(type) {
	case string:
		raw, special = int64(len(v)), escapes(v)
	case []byte:
		raw, special = int64(len(v)), escapes(v)
	default:
		return 0, int64(len("'2006-01-02 15:04:05.000000'"))
	}
	return raw, raw + int64(special+len("_binary''"))
}

// escapes is how many bytes of a value are sent as two.
func escapes[T string | []byte](value T) (n int) {
	for i := range len(value) {
		switch value[i] {
		case 0, '\n', '\r', '\x1a', '\'', '"', '\\':
			n++
		}
	}
	return n
}

// sqlLimit reads a variable.
const sqlLimit = `SELECT @@max_allowed_packet`

// tooLarge asks the server, in another session, whether a statement that the session was lost at fits. A
// statement whose values would fit as they are, only not escaped and together, counts as too large when it is
// lost a second time: whether the driver sends them so is its setting. nil: it fits, or nobody answers. One
// statement, up to 3 where sessions are lost.
func (l *largeStatement) tooLarge(ctx context.Context, pool DB, err error, again bool) *TooLargeError {
	e := &TooLargeError{Size: l.size, Argument: l.argument, ArgumentSize: l.raw, Err: err}
	certain := mysqlerr.Classify(l.err) == mysqlerr.TooLarge
	if errors.Is(l.err, mysql.ErrPktTooLarge) {
		return e
	}
	for range 3 { // the pool may hand out the session that the server is about to close
		if mysqlerr.Classify(QueryRow(ctx, pool, sqlLimit, nil, &e.Limit)) != mysqlerr.ConnectionLost {
			break
		}
		e.Limit = 0
	}
	switch {
	case certain, e.Limit > 0 && l.raw >= e.Limit, e.Limit > 0 && l.size >= e.Limit && again:
		return e
	}
	return nil
}

// hint says at a joined transaction's error what may be behind it: there is no other session to ask in.
func (l *largeStatement) hint(err error) error {
	if mysqlerr.Classify(l.err) == mysqlerr.TooLarge {
		return &TooLargeError{Size: l.size, Argument: l.argument, ArgumentSize: l.raw, Err: err}
	}
	return fmt.Errorf("%w (the statement had %d bytes: perhaps more than the server's max_allowed_packet)", err, l.size)
}
