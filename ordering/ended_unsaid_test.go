package ordering_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestEndedUnsaid: MariaDB answers some statements that it ends before their first row with OK and no row.
// Each message is applied once and no longer parked all the same.
func TestEndedUnsaid(t *testing.T) {
	const streams = 60
	db, dsn := open(t)
	pools := []*sql.DB{db}
	if dbtest.Server(t).Engine() == devdb.MariaDB { // MySQL ends only what it says that it ends
		for _, seconds := range []string{"0.00002", "0.00005", "0.0001", "0.0002"} {
			pools = append(pools, dbtest.OpenDSN(t, dsn+"&max_statement_time="+seconds))
		}
	}
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	for i := range streams {
		stream := fmt.Sprint("s", i)
		for _, seq := range []int64{2, 3, 1, 5, 4} {
			for try := range 200 {
				_, err := g.Apply(t.Context(), pools[(try+1)%len(pools)], ordering.Message{Stream: stream, Sequence: seq}, follow)
				if err == nil {
					break
				}
			}
		}
		must(g.Release(t.Context(), db, stream, follow))
		c := must(g.Read(t.Context(), db, stream))
		if parked := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE stream = ?", stream); c.State.Seen != "0.1 0.2 0.3 0.4 0.5 " || c.Held != 0 || parked != 0 {
			t.Fatalf("stream %d: %+v, %d parked", i, c, parked)
		}
	}
}
