package cascade

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestInsertsMeanwhile: eight writers insert at every level, kept from dying parents by
// nothing but foreign keys, while the tree goes. What was acknowledged is deleted and
// counted, and nothing is left.
func TestInsertsMeanwhile(t *testing.T) {
	eachOffice(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, "INSERT INTO firm VALUES ('Nord', 1, 'n1'), ('Nord', 2, 'n2')")
		dbtest.Exec(t, db, "INSERT INTO staff (region, firm_no, id) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 40) SELECT 'nord', 1, i FROM s")
		dbtest.Exec(t, db, "INSERT INTO paper (id, num, firm_code) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 40) SELECT UNHEX(LPAD(HEX(i), 8, '0')), i, 'n1' FROM s")
		dbtest.Exec(t, db, "INSERT INTO remark (id) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 40) SELECT i FROM s")
		dbtest.Exec(t, db, "UPDATE remark SET owner_type = 'paper', owner_id = id")
		job := begin(t, db, "firm", firmOfNord)
		var wg sync.WaitGroup
		var next, acknowledged, refused, late atomic.Int64
		started, ended := make(chan struct{}, 8), make(chan struct{})
		next.Store(1000)
		for writer := range 8 {
			wg.Go(func() {
				for i, last := 0, int64(1); i < 153; i++ {
					if i == 150 {
						<-ended
					}
					id := next.Add(1)
					var query string
					args := []any{id, 1 + id%40}
					switch writer % 4 {
					case 0: // a firm's, then deeper and deeper below the own one
						query, args[1] = "INSERT INTO staff VALUES ('NORD', 1, ?, ?)", last
					case 1:
						query = "INSERT INTO staff VALUES ('nord', 1, ?, IF(? > 20, NULL, 3))"
					case 2: // written, for MySQL 9.7 checks no foreign key where a further column of its index is NULL
						query = "INSERT INTO paper (id, num, firm_code, written) VALUES (UNHEX(LPAD(HEX(?), 8, '0')), 1000000 + ?, 'n1', '2001-01-01')"
						args[1] = id
					default:
						query = "INSERT INTO remark (id, reply_to) VALUES (?, ?)"
					}
					if i == 5 {
						started <- struct{}{}
					}
					_, err := db.ExecContext(t.Context(), query, args...)
					var refusal *mysql.MySQLError
					switch {
					case err == nil:
						acknowledged.Add(1)
						last = id
					case errors.As(err, &refusal) && refusal.Number == 1452:
						refused.Add(1)
						last = 1
						if i >= 150 {
							late.Add(1)
						}
					case !fault.Transient(err):
						t.Error(err)
						return
					}
				}
			})
		}
		for range 8 {
			<-started
		}
		w, err := NewWorker(db, office, Config{Batch: 7, Chunk: 5})
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			makeDue(t, db, job.ID)
			drain(t, w)
			got := get(t, db, job.ID)
			return !got.State.Open(), fmt.Sprintf("%+v", got)
		})
		close(ended)
		wg.Wait()
		got := get(t, db, job.ID)
		if late.Load() != 8*3 {
			t.Errorf("%d of 24 inserts below what was gone were refused", late.Load())
		}
		if want := 120 + acknowledged.Load(); got.State != queue.Done || got.DeletedRows != want || got.Parked > 0 {
			t.Errorf("%+v, want %d rows", got, want)
		}
		for _, table := range []string{"staff", "paper", "remark"} {
			if n := count(t, db, "SELECT COUNT(*) FROM "+table); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
		t.Logf("%d acknowledged, %d refused", acknowledged.Load(), refused.Load())
	})
}
