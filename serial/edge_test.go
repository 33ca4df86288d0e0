package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// TestLastNumbers: what is left is given, and nothing beyond it, also where the server cuts numbers to what fits.
func TestLastNumbers(t *testing.T) {
	for name, mode := range map[string]string{"default": "", "not strict": "''", "without unsigned": "'NO_UNSIGNED_SUBTRACTION'"} {
		t.Run(name, func(t *testing.T) {
			var opts []dbtest.Option
			if mode != "" {
				opts = append(opts, dbtest.Param("sql_mode", mode))
			}
			db, _ := open(t, opts...)
			s := must(serial.New("s"))
			must(s.Claim(t.Context(), db, "first", 1))
			dbtest.Exec(t, db, "UPDATE onerow_serial SET next_no = ?", int64(math.MaxInt64-5))
			if got := must(s.Claim(t.Context(), db, "a", 3)).Row; got.From != math.MaxInt64-5 || got.To != math.MaxInt64-3 {
				t.Errorf("a has %d to %d", got.From, got.To)
			}
			for range 2 {
				if got, err := s.Claim(t.Context(), db, "b", 3); !errors.Is(err, serial.ErrExhausted) {
					t.Errorf("b has %d to %d, %v", got.Row.From, got.Row.To, err)
				}
			}
			if got := must(s.Claim(t.Context(), db, "c", 2)).Row; got.From != math.MaxInt64-2 || got.To != math.MaxInt64-1 {
				t.Errorf("c has %d to %d", got.From, got.To)
			}
			if got, err := s.Claim(t.Context(), db, "d", 1); !errors.Is(err, serial.ErrExhausted) {
				t.Errorf("d has %d to %d, %v", got.Row.From, got.Row.To, err)
			}
			found, err := gaps.Find(t.Context(), db, s)
			if err != nil || len(found) != 1 { // what the UPDATE above left out
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// ends is a context that ends when it has been asked so many times.
type ends struct {
	context.Context
	left atomic.Int64
}

func (e *ends) Err() error {
	if e.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestEndsUnasked: a caller whose time is over is told so, and not of an index that he knows nothing of.
func TestEndsUnasked(t *testing.T) {
	_, dsn := open(t)
	db, _ := racetest.CountedTogether(t, dsn)
	s := must(serial.New("s"))
	must(s.Claim(t.Context(), db, "a", 1))
	told := 0
	for asked := range int64(20) {
		ctx := &ends{Context: t.Context()}
		ctx.left.Store(asked)
		got, err := s.Claim(ctx, db, "a", 1)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			told++
		case err != nil || !got.Replayed:
			t.Errorf("asked %d times: %+v, %v", asked, got, err)
		}
	}
	if told == 0 {
		t.Error("no call came to its end")
	}
}

// TestLostAndEnded: a claim of which the answer was lost, and whose caller's time is over before it is found
// again, is not told as one that took nothing.
func TestLostAndEnded(t *testing.T) {
	_, dsn := open(t)
	s, n := must(serial.New("s")), 0
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		_, err := s.Claim(ctx, db, fmt.Sprint(n), 1)
		return err
	})
}
