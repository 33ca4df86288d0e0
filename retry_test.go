package onerow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/trace"
)

// TestRetryTime: nothing is begun 30 seconds after the first attempt was, but that what was refused is run
// again once, however long it took.
func TestRetryTime(t *testing.T) {
	refused, timedOut := &mysql.MySQLError{Number: 1213}, &mysql.MySQLError{Number: 1205}
	for name, c := range map[string]struct {
		err  error
		took time.Duration
		runs int
	}{
		"a deadlock, at once":              {refused, 0, 20},
		"a deadlock, after 4 s":            {refused, 4 * time.Second, 8},
		"a deadlock, after a minute":       {refused, time.Minute, 2},
		"a lock wait timeout of 1 s":       {timedOut, time.Second, 3},
		"the default lock wait timeout":    {timedOut, 50 * time.Second, 1},
		"a connection lost after 500 ms":   {mysql.ErrInvalidConn, 500 * time.Millisecond, 3},
		"a connection cut at once":         {mysql.ErrInvalidConn, 0, 20},
		"a connection lost after a minute": {mysql.ErrInvalidConn, time.Minute, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			err := retry(t.Context(), trace.Span{}, func() attempt {
				runs++
				time.Sleep(c.took) // of the bubble's clock: it is how long the attempt takes
				return attempt{err: c.err, again: true, waited: waited(c.err)}
			})
			if runs != c.runs || !Retryable(err) {
				t.Errorf("%s: %d runs, %v", name, runs, err)
			}
		})
	}
}
