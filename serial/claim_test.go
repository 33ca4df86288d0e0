package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

func TestClaim(t *testing.T) {
	for _, found := range []string{"true", "false"} {
		for _, interpolate := range []string{"true", "false"} {
			db, _ := open(t, dbtest.Param("clientFoundRows", found), dbtest.Param("interpolateParams", interpolate))
			ctx, s := t.Context(), series(t, "EURO2024", serial.First(100))
			for _, step := range []struct {
				key      string
				amount   int64
				from, to int64
				replayed bool
			}{
				{"a", 1, 100, 100, false}, {"b", 10, 101, 110, false}, {"a", 1, 100, 100, true}, {"A", 2, 111, 112, false},
				{"b", 10, 101, 110, true}, {"a ", 1, 113, 113, false},
			} {
				res, err := s.Claim(ctx, db, step.key, step.amount)
				if err != nil || res.Row.From != step.from || res.Row.To != step.to || res.Replayed != step.replayed || res.Changed == step.replayed {
					t.Fatalf("%+v: got %+v, %v", step, res, err)
				}
			}
			_, err := s.Claim(ctx, db, "b", 9)
			var mismatch *serial.ClaimError
			if wantError(t, err, serial.ErrMismatch); !errors.As(err, &mismatch) || mismatch.Claim.From != 101 {
				t.Fatal(err)
			}
			res := must(s.Void(ctx, db, "b", "order cancelled"))
			if !res.Changed || res.Row.From != 101 || res.Row.VoidReason != "order cancelled" || res.Row.Amount() != 10 {
				t.Fatalf("%+v", res)
			}
			if res = must(s.Void(ctx, db, "b", "again")); res.Changed || res.Row.VoidReason != "order cancelled" {
				t.Fatalf("%+v", res)
			}
			_, err = s.Claim(ctx, db, "b", 10)
			wantError(t, err, serial.ErrVoided)
			_, err = s.Void(ctx, db, "nobody", "")
			wantError(t, err, serial.ErrNoClaim)
			_, err = s.Find(ctx, db, "nobody")
			wantError(t, err, serial.ErrNoClaim)
			if c := must(s.Find(ctx, db, "b")); !c.Voided || c.To != 110 {
				t.Fatalf("%+v", c)
			}
			if all := must(serial.List(ctx, db, "", 10)); len(all) != 1 || all[0] != (serial.Counter{Series: "EURO2024", First: 100, Next: 114}) {
				t.Fatalf("%+v", all)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	db, _ := open(t)
	ctx, s := t.Context(), series(t, "s")
	for _, err := range []error{
		second(serial.New("")), second(serial.New(strings.Repeat("x", 256))), second(serial.New("x", serial.First(-1))),
		second(s.Claim(ctx, db, "", 1)), second(s.Claim(ctx, db, strings.Repeat("x", 256), 1)), second(s.Claim(ctx, db, "k", 0)),
		second(s.Claim(ctx, db, "k", math.MaxInt64)), second(serial.List(ctx, db, "", 0)),
		second(s.Void(ctx, db, "k", "torn \xff")), second(s.Void(ctx, db, "k", strings.Repeat("x", 1<<16))),
	} {
		wantError(t, err, serial.ErrInvalidArgument)
	}
	// A counter at its end refuses, and keeps nothing.
	dbtest.Exec(t, db, "INSERT INTO onerow_serial VALUES ('s', 1, ?)", int64(math.MaxInt64)-1)
	if err := second(s.Claim(ctx, db, "k", 5)); err == nil {
		t.Fatal("numbers beyond the end")
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_serial_claim"); n != 0 {
		t.Fatalf("%d claims", n)
	}
}

func second[T any](_ T, err error) error { return err }

// TestJoined: the numbers belong to the transaction: its rollback takes them back, and a snapshot from before
// does not matter.
func TestJoined(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			ctx, s := t.Context(), series(t, "s")
			tx := must(db.BeginTx(ctx, nil))
			if res := must(s.Claim(ctx, tx, "a", 5)); res.Row.From != 1 {
				t.Fatal(res)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			tx = must(db.BeginTx(ctx, nil))
			dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_serial_claim") // takes the snapshot
			must(s.Claim(ctx, db, "b", 3))
			if res := must(s.Claim(ctx, tx, "b", 3)); !res.Replayed || res.Row.To != 3 {
				t.Fatal(res)
			}
			if res := must(s.Claim(ctx, tx, "c", 1)); res.Row.From != 4 {
				t.Fatal(res)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if found := must(gaps.Find(ctx, db, s)); found != nil {
				t.Fatal(found)
			}
		})
	}
}

// TestHalfClaim: a caller committed although Claim had failed: the claim gets its numbers with the next call.
func TestHalfClaim(t *testing.T) {
	db, _ := open(t)
	dbtest.Exec(t, db, `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, claimed_at) VALUES ('s', 'k', 2, REPEAT('x', 16), UTC_TIMESTAMP(6))`)
	s := series(t, "s")
	_, err := s.Void(t.Context(), db, "k", "")
	wantError(t, err, serial.ErrNoClaim)
	if res := must(s.Claim(t.Context(), db, "other", 2)); res.Replayed || res.Row.To != 2 {
		t.Fatal(res)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_serial_claim WHERE claim_key = 'k' AND from_no IS NULL"); n != 1 {
		t.Error("another claim has given it numbers")
	}
	if res := must(s.Claim(t.Context(), db, "k", 2)); res.Replayed || res.Row.To != 4 {
		t.Fatal(res)
	}
}

// TestVoidedSince: a transaction whose snapshot is older than the end of a claim is told that it has been
// voided, and why.
func TestVoidedSince(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	s := series(t, "s")
	must(s.Claim(t.Context(), db, "k", 2))
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_serial_claim WHERE voided_at IS NULL"); n != 1 {
		t.Fatal(n)
	}
	must(s.Void(t.Context(), db, "k", "the first"))
	if res := must(s.Void(t.Context(), tx, "k", "the second")); res.Changed || !res.Row.Voided || res.Row.VoidReason != "the first" {
		t.Errorf("%+v", res)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// TestRace: 32 callers, many with the same key, some roll back.
func TestRace(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			ctx, s := t.Context(), series(t, "s")
			var wg sync.WaitGroup
			errs := make(chan error, 32)
			for i := range 32 {
				wg.Go(func() {
					for n := range 10 {
						id := fmt.Sprint("event-", (i/4)*10+n) // four callers of each
						err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
							if err := sell(ctx, tx, s, id, int64(1+n)); err != nil {
								return err
							}
							if (i+n)%5 == 0 {
								return errChanged
							}
							return nil
						})
						if err != nil && !errors.Is(err, errChanged) {
							errs <- err
							return
						}
					}
				})
			}
			wg.Wait()
			close(errs)
			for err := range errs {
				t.Error(err)
			}
			if found := must(gaps.Find(ctx, db, s)); found != nil {
				t.Errorf("claims: %+v", found)
			}
			if found := must(cards.Find(ctx, db, "s")); found != nil {
				t.Errorf("postcards: %+v", found)
			}
			if n := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM postcard"); n != 80 {
				t.Errorf("%d postcards", n)
			}
		})
	}
}

var (
	errChanged = errors.New("changed my mind")
	cards      = gaps.Table{Name: "postcard", Series: "campaign", From: "from_no", To: "to_no", Key: "id", Voided: "voided_at"}
)

// TestBlocks: what doc.go says of the price: a second writer waits, another series does not.
func TestBlocks(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	tx := must(db.BeginTx(ctx, nil))
	must(series(t, "s").Claim(ctx, tx, "a", 1))
	must(series(t, "other").Claim(ctx, db, "a", 1))
	done := make(chan serial.Claim)
	go func() {
		res, err := series(t, "s").Claim(ctx, db, "b", 1)
		if err != nil {
			t.Error(err)
		}
		done <- res.Row
	}()
	waiting := func() (bool, string) {
		var n int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND command IN ('Query', 'Execute') AND id <> CONNECTION_ID()", nil, &n)
		return n > 0, fmt.Sprint(n, err)
	}
	dbtest.Eventually(t, 10e9, waiting)
	select {
	case c := <-done:
		t.Fatalf("%+v was given out before the COMMIT before it", c)
	default:
	}
	if err := tx.Commit(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		t.Fatal(err)
	}
	if c := <-done; c.From != 2 {
		t.Fatalf("%+v", c)
	}
}
