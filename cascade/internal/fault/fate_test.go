package fault

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// TestFateOf: what becomes of a job by which error.
func TestFateOf(t *testing.T) {
	server := func(number uint16) error { return fmt.Errorf("x: %w", &mysql.MySQLError{Number: number}) }
	for _, c := range []struct {
		err     error
		stopped bool
		want    Fate
	}{
		{nil, false, Done},
		{nil, true, Done},
		{fmt.Errorf("x: %w", ErrLeaseLost), true, Lost},
		{ErrPaused, false, GivenBack},
		{ErrTurn, false, GivenBack},
		{context.Canceled, true, GivenBack},
		{server(1451), true, GivenBack},
		{server(1040), false, PostponedWithAll},      // no more sessions
		{server(1836), false, PostponedWithAll},      // read-only
		{server(1665), false, PostponedWithAll},      // binlog_format
		{server(1206), false, Rests},                 // out of lock memory
		{server(1021), false, Rests},                 // disk full
		{ErrEndedUnsaid, false, Rests},               //
		{server(1213), false, Postponed},             // deadlock
		{server(1205), false, Postponed},             // lock wait timeout
		{onerow.ErrOutcomeUnknown, false, Postponed}, //
		{mysql.ErrInvalidConn, false, PostponedWithAll},
		{driver.ErrBadConn, false, PostponedWithAll},
		{fmt.Errorf("%w: begun under a, now %w", ErrDrift, ErrMisfit), false, Dead},
		{fmt.Errorf("%w: %w", ErrParked, server(1451)), false, Dead},
		{ErrMisfit, false, PostponedWithAll},
		{ErrLoop, false, Failed},
		{ErrStuck, false, Failed},
		{server(1451), false, Failed},
		{server(1142), false, Failed}, // not allowed
		{&Assets{Err: driver.ErrBadConn}, false, Failed},
		{&Assets{Err: server(1040)}, false, Failed},
		{errors.New("anything"), false, Failed},
	} {
		if got := FateOf(c.err, c.stopped); got != c.want {
			t.Errorf("%v, stopped: %t: %d, want %d", c.err, c.stopped, got, c.want)
		}
	}
}
