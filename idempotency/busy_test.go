package idempotency

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// TestBusyAfterWait: a call has waited in vain before, and its context ends during the next run.
// Only what the end of the context made of that run is the end of a wait.
func TestBusyAfterWait(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the caller has hung up")
	cancel(cause)
	own, refused := errors.New("not enough money"), &mysql.MySQLError{Number: 1452}
	for name, c := range map[string]struct {
		err  error
		busy bool
	}{
		"it was committed":                        {nil, false},
		"an error of the function's":              {own, false},
		"a permanent one":                         {Permanent(own), false},
		"what the server refused the function":    {refused, false},
		"the context's":                           {fmt.Errorf("in between: %w", context.Canceled), true},
		"its cause":                               {fmt.Errorf("onerow: rolled back before commit: %w", cause), true},
		"the connection, which the driver closed": {mysql.ErrInvalidConn, true},
		"an unknown outcome":                      {&onerow.OutcomeUnknownError{Err: mysql.ErrInvalidConn}, true},
	} {
		again, err := (&call{contended: true}).busy(ctx, c.err)
		if again || errors.Is(err, ErrBusy) != c.busy || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v, %v", name, again, err)
		}
	}
}
