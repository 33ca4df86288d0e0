package problem

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// TestNotNow: what passes by itself is 503 with Retry-After, so that clients come again; what does not pass
// is 500 without.
func TestNotNow(t *testing.T) {
	refused := func(n uint16) error {
		return fmt.Errorf("store: make a project: %w", &mysql.MySQLError{Number: n, Message: "of user 'secret', with --read-only"})
	}
	for name, c := range map[string]struct {
		err   error
		later bool
	}{
		"a deadlock":            {refused(1213), true},
		"a lock wait timeout":   {refused(1205), true},
		"a cluster's certifier": {refused(3101), true},
		"too many connections":  {refused(1040), true},
		"a server that reads":   {refused(1290), true},
		"no connection":         {mysql.ErrInvalidConn, true},
		"a deadline":            {context.DeadlineExceeded, true},
		"an unknown outcome":    {&onerow.OutcomeUnknownError{Err: mysql.ErrInvalidConn}, true},
		"no such table":         {refused(1146), false},
		"a closed pool":         {sql.ErrConnDone, false},
		"a bug":                 {errors.New("secret"), false},
	} {
		w := httptest.NewRecorder()
		if err := From(c.err).Write(w); err != nil {
			t.Fatal(err)
		}
		want, after := http.StatusInternalServerError, ""
		if c.later {
			want, after = http.StatusServiceUnavailable, "2"
		}
		if got := w.Header().Get("Retry-After"); w.Code != want || got != after {
			t.Errorf("%s: %d, Retry-After %q", name, w.Code, got)
		}
		if w.Header().Get("Content-Type") != ContentType || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", name, w.Header())
		}
	}
}
