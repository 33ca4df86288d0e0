package ordering_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestByTimeColumn: a column that does not keep the time of an update as it is sent would take the same
// update twice, or for ever.
func TestByTimeColumn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		column   string
		datetime bool
		says     string // of the error; empty: it fits
		seen     int    // at which of two equal updates it is seen at the latest
	}{
		{"BIGINT", false, "", 0},
		{"BIGINT UNSIGNED", false, "", 0},
		{"DATETIME(6)", true, "", 0},
		{"DATETIME", true, "DATETIME(0)", 1},
		{"DATETIME(3)", true, "DATETIME(3)", 1},
		{"TIMESTAMP", true, "TIMESTAMP(0)", 1},
		{"DATE", true, "DATE", 1},
		{"VARCHAR(40)", true, "VARCHAR", 1},
		{"BIGINT", true, "BIGINT", 1},
		{"TIMESTAMP(6)", true, "TIMESTAMP(6)", 2}, // it keeps the time, until a session has another zone
		{"VARCHAR(40)", false, "VARCHAR", 2},
		{"DECIMAL(20)", false, "DECIMAL", 2},
		{"DOUBLE", false, "DOUBLE", 2},
	} {
		t.Run(tt.column, func(t *testing.T) {
			for _, setting := range []string{"true", "false"} {
				db, _ := open(t, dbtest.Param("clientFoundRows", setting), dbtest.Param("interpolateParams", setting))
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // that it ends is what is tested
				defer cancel()
				dbtest.Exec(t, db, "CREATE TABLE odd (id BIGINT PRIMARY KEY, points BIGINT NOT NULL, at_it "+tt.column+" NULL) ENGINE=InnoDB")
				dbtest.Exec(t, db, "INSERT INTO odd (id, points) VALUES (1, 0)")
				g := ordering.ByTime{Table: "odd", ID: "id", At: "at_it", Datetime: tt.datetime}
				check(t, g.Verify(ctx, db), tt.says)
				for n := 1; n <= 2; n++ {
					_, err := g.Update(ctx, db, 1, now, ordering.Change{Add: map[string]any{"points": 5}})
					if n < tt.seen && err == nil {
						continue
					}
					check(t, err, tt.says)
				}
				if got := dbtest.Scan[int64](t, db, "SELECT points FROM odd"); got > 5 || tt.seen == 1 && got != 0 {
					t.Fatalf("two equal updates added %d", got)
				}
			}
		})
	}
}

func check(t *testing.T, err error, says string) {
	t.Helper()
	switch {
	case says == "" && err == nil:
	case !errors.Is(err, ordering.ErrInvalidArgument):
		t.Fatalf("got the error %v, want %q", err, says)
	case !strings.Contains(err.Error(), "odd.at_it") || !strings.Contains(err.Error(), " is "+says) || !strings.Contains(err.Error(), "make it ") && !strings.Contains(err.Error(), "trigger"):
		t.Fatalf("it does not say enough: %v", err)
	}
}

// TestByTimeTrigger: whatever keeps the column from its time, an update that can never be seen to apply ends.
func TestByTimeTrigger(t *testing.T) {
	db, _ := open(t, dbtest.Param("clientFoundRows", "false"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dbtest.Exec(t, db, "INSERT INTO runner (id, name, points, asked_us) VALUES (1, 'Ann', 0, 7)")
	dbtest.Exec(t, db, "CREATE TRIGGER clock BEFORE UPDATE ON runner FOR EACH ROW SET NEW.asked_us = 7")
	wantError(t, second(guards[0].Update(ctx, db, 1, now, ordering.Change{Set: map[string]any{"name": "Ann"}})), ordering.ErrInvalidArgument)
}
