package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
)

// AwaitLock waits until a session of the schema waits for a lock on a row. (INNODB_TRX would not do: the server copies it only
// when nobody has read it for 0.1 s, and other tests wait too.)
func AwaitLock(t testing.TB, db *sql.DB) {
	t.Helper()
	waits := mariaDBWaits
	if Server(t).Engine() == devdb.MySQL {
		waits = mySQLWaits
	}
	Eventually(t, patience, func() (bool, string) {
		n, err := waits(t.Context(), db)
		return err == nil && n > 0, fmt.Sprintf("%d sessions wait for a row, %v", n, err)
	})
}

func mySQLWaits(ctx context.Context, db *sql.DB) (n int, err error) {
	err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM performance_schema.data_lock_waits AS w
 JOIN performance_schema.threads AS t ON t.thread_id = w.requesting_thread_id WHERE t.processlist_db = DATABASE()`).Scan(&n)
	return n, err
}

var sessionInStatus = regexp.MustCompile(`MariaDB thread id (\d+),`)

func mariaDBWaits(ctx context.Context, db *sql.DB) (n int, err error) {
	var engine, name, status string
	if err := db.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
		return 0, err
	}
	_, list, _ := strings.Cut(status, "LIST OF TRANSACTIONS FOR EACH SESSION:")
	ids := "0"
	for part := range strings.SplitSeq(list, "---TRANSACTION ") {
		if id := sessionInStatus.FindStringSubmatch(part); id != nil && strings.Contains(part, "\nLOCK WAIT ") {
			ids += ", " + id[1]
		}
	}
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id IN ("+ids+")").Scan(&n)
	return n, err
}
