package governor

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// says asks a throttle.
func says(t testing.TB, throttle Throttle, db *sql.DB) string {
	t.Helper()
	reason, err := throttle.Reason(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return reason
}

func TestThreadsRunning(t *testing.T) {
	db := dbtest.Open(t)
	if reason := says(t, threadsRunning(100_000), db); reason != "" {
		t.Error(reason)
	}
	reason := says(t, threadsRunning(0), db) // whoever asks is running
	if !strings.HasPrefix(reason, "Threads_running is ") || !strings.HasSuffix(reason, ", the limit is 0") {
		t.Error(reason)
	}
}

func TestQueryThrottle(t *testing.T) {
	db := dbtest.Open(t)
	dbtest.Exec(t, db, "CREATE TABLE busy (id INT PRIMARY KEY, why VARCHAR(80))")
	for query, want := range map[string]string{
		"SELECT NULL": "", "SELECT ''": "", "SELECT 0": "", "SELECT '0'": "", "SELECT why FROM busy": "",
		"SELECT 'backup'": "backup", "SELECT 7": "7", "SELECT CONCAT('at ', '100%')": "at 100%",
	} {
		if got := says(t, Query(query), db); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	dbtest.Exec(t, db, "INSERT INTO busy VALUES (1, 'a'), (2, 'b')")
	for _, query := range []string{"SELECT why FROM busy", "SELECT id, why FROM busy WHERE id = 1", "SELECT nonsense", "DELETE FROM busy WHERE id = 1"} {
		if reason, err := Query(query).Reason(t.Context(), db); err == nil {
			t.Errorf("%s: %q and no error", query, reason)
		}
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM busy").Scan(&n); n != 2 || err != nil {
		t.Errorf("a throttle has written: %d, %v", n, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Query("SELECT SLEEP(20)").Reason(ctx, db); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(begin), err)
	}
}

// TestReplicaLag: the server itself is no replica, and a statement whose answer has the
// columns of one engine or the other is read as a replica's answer is.
func TestReplicaLag(t *testing.T) {
	db := dbtest.Open(t)
	if reason := says(t, lagging(time.Second), db); reason != "there is no replica to ask" {
		t.Error(reason)
	}
	throttle := lagging(time.Second, db, db)
	for range 2 {
		if reason := says(t, throttle, nil); reason != "replica 1 is no replica of anything" {
			t.Error(reason)
		}
	}
	lag := &replicaLag{most: 5 * time.Second}
	for query, want := range map[string]string{
		"SELECT 'x' AS Channel_Name, 5 AS Seconds_Behind_Source, 'Yes' AS Replica_SQL_Running":           "",
		"SELECT 'x' AS Connection_name, 6 AS Seconds_Behind_Master":                                      "is 6 s behind, the limit is 5s",
		"SELECT CAST(NULL AS SIGNED) AS Seconds_Behind_Master, 'Connecting' AS Slave_IO_Running":         "does not replicate",
		"SELECT 'a' AS c, 9 AS Seconds_Behind_Source UNION ALL SELECT 'b', NULL":                         "does not replicate",
		"SELECT 'a' AS c, NULL AS Seconds_Behind_Source UNION ALL SELECT 'b', 9":                         "does not replicate",
		"SELECT 'a' AS c, 1 AS Seconds_Behind_Source UNION ALL SELECT 'b', 70 UNION ALL SELECT 'c', '2'": "is 70 s behind, the limit is 5s",
		"SELECT 1 AS Seconds_Behind_Source FROM DUAL WHERE FALSE":                                        "is no replica of anything",
	} {
		if got, err := lag.lag(t.Context(), db, query); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	if _, err := lag.lag(t.Context(), db, "SELECT 1 AS something"); err == nil || !strings.Contains(err.Error(), "Seconds_Behind_Source") {
		t.Error(err)
	}
	gone := dbtest.Open(t)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if reason, err := lagging(time.Second, gone).Reason(t.Context(), db); err == nil || !strings.Contains(err.Error(), "replica 1") {
		t.Errorf("%q, %v", reason, err)
	}
}

// TestThrottlesWithoutEscapes: no throttle waits for what it cannot read where \ is a character like any
// other.
func TestThrottlesWithoutEscapes(t *testing.T) {
	db := dbtest.Open(t, dbtest.Param("sql_mode", "'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'"))
	for _, throttle := range Throttles(100_000, 0, nil, []string{`SELECT 'back\slash' = 'slash'`}) {
		if reason := says(t, throttle, db); reason != "" {
			t.Error(reason)
		}
	}
	if reason := says(t, lagging(time.Second, db), db); reason != "replica 1 is no replica of anything" {
		t.Error(reason)
	}
}
