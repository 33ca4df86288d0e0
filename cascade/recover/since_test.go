package recover_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema/live"
)

// TestColumnSince: rows that were kept before a table got a column come back, with what the rows of the table
// got, when the statements that Verify prints have run.
func TestColumnSince(t *testing.T) {
	db, job := deletedBlog(t, blogs)
	ctx := t.Context()
	dbtest.Exec(t, db, `ALTER TABLE page ADD COLUMN colour VARCHAR(9) CHARACTER SET latin1 NOT NULL DEFAULT 'it''s', ADD COLUMN kind ENUM('a','b') NOT NULL DEFAULT 'b',
ADD COLUMN size INT NULL DEFAULT 5, ADD COLUMN cost DECIMAL(9,2) NULL, ADD COLUMN paid TIMESTAMP NULL, ADD COLUMN seen DATETIME(6) NOT NULL DEFAULT '2020-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP(6),
ADD COLUMN made DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD COLUMN loud VARCHAR(20) AS (UPPER(path)) VIRTUAL`)
	var e *live.VerifyError
	if err := live.Verify(ctx, db, blogs); !errors.As(err, &e) || len(e.Differences) != 7 {
		t.Fatalf("%v, want 7 differences", err)
	}
	for _, d := range e.Differences {
		if d.SQL == "" {
			t.Fatalf("no statement mends %s", d)
		}
		dbtest.Exec(t, db, d.SQL)
	}
	if err := live.Verify(ctx, db, blogs); err != nil {
		t.Fatal(err)
	}
	_, p, err := recover.Job(ctx, db, blogs, job.ID, recover.Options{})
	if err != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	want := ""
	for _, id := range []int{9, 1, 2} { // the first was there all the time
		var colour, kind, size, cost, seen string
		var made time.Time
		if err := onerow.QueryRow(ctx, db, "SELECT colour, kind, CAST(size AS CHAR), CONCAT(COALESCE(cost, 'none'), COALESCE(paid, 'never')), CAST(seen AS CHAR), made FROM page WHERE id = ?", []any{id}, &colour, &kind, &size, &cost, &seen, &made); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(colour, kind, size, cost, seen)
		if want == "" {
			want = got
		}
		if got != want || time.Since(made).Abs() > time.Hour {
			t.Errorf("page %d came back as %s, made %s; one that stayed is %s", id, got, made, want)
		}
	}
}
