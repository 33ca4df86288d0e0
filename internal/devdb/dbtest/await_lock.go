package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
)

// AwaitLock waits until a session of the schema waits for a lock on a row, another one than those that
// [Waiting] knew.
func AwaitLock(t testing.TB, db *sql.DB, known ...int64) {
	t.Helper()
	Eventually(t, patience, func() (bool, string) {
		ids, err := waiting(t, db)
		return slices.ContainsFunc(ids, func(id int64) bool { return !slices.Contains(known, id) }),
			fmt.Sprintf("the sessions %d wait for a row, %d did before, %v", ids, known, err)
	})
}

// Waiting are the sessions of the schema that wait for a lock on a row, by their ids: those of callers that
// have gone, too. The server goes on waiting for them.
func Waiting(t testing.TB, db *sql.DB) []int64 {
	t.Helper()
	ids, err := waiting(t, db)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// mySQLWaits, and what mariaDBWaits reads: INNODB_TRX would not do, which the server copies only when nobody
// has read it for 0.1 s, and other tests wait too.
const mySQLWaits = `SELECT t.processlist_id FROM performance_schema.data_lock_waits AS w
 JOIN performance_schema.threads AS t ON t.thread_id = w.requesting_thread_id WHERE t.processlist_db = DATABASE()`

func waiting(t testing.TB, db *sql.DB) (ids []int64, err error) {
	query := mySQLWaits
	if Server(t).Engine() != devdb.MySQL {
		if query, err = mariaDBWaits(t.Context(), db); err != nil {
			return nil, err
		}
	}
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

var sessionInStatus = regexp.MustCompile(`MariaDB thread id (\d+),`)

// mariaDBWaits names the sessions of all schemas that wait; only the list of processes knows their schemas.
func mariaDBWaits(ctx context.Context, db *sql.DB) (query string, err error) {
	var engine, name, status string
	if err := db.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
		return "", err
	}
	_, list, _ := strings.Cut(status, "LIST OF TRANSACTIONS FOR EACH SESSION:")
	ids := "0"
	for part := range strings.SplitSeq(list, "---TRANSACTION ") {
		if id := sessionInStatus.FindStringSubmatch(part); id != nil && strings.Contains(part, "\nLOCK WAIT ") {
			ids += ", " + id[1]
		}
	}
	return "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id IN (" + ids + ")", nil
}
