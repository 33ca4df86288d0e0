package dbtest

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
)

// What other sessions of the schema execute. MySQL's information_schema.processlist fails with error 3854
// where any session of the server executes a statement with bytes in it that are not UTF-8.
const (
	sqlExecuting      = `SELECT id, COALESCE(info, '') FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()`
	sqlOfUser         = `SELECT id, '' FROM information_schema.processlist WHERE user = ?`
	sqlOfUserMySQL    = `SELECT processlist_id, '' FROM performance_schema.threads WHERE processlist_user = ? AND processlist_id IS NOT NULL`
	sqlExecutingMySQL = `SELECT processlist_id, COALESCE(processlist_info, '') FROM performance_schema.threads
 WHERE processlist_db = DATABASE() AND processlist_id <> CONNECTION_ID()`
)

// Executing are the other sessions of the schema that execute a statement with all of the parts in its text.
func Executing(t testing.TB, db *sql.DB, parts ...string) (ids []int64) {
	t.Helper()
	return sessions(t, db, sqlExecuting, sqlExecutingMySQL, nil, parts)
}

// SessionsOf are the sessions of a user.
func SessionsOf(t testing.TB, db *sql.DB, user string) (ids []int64) {
	t.Helper()
	return sessions(t, db, sqlOfUser, sqlOfUserMySQL, []any{user}, nil)
}

func sessions(t testing.TB, db *sql.DB, query, onMySQL string, args []any, parts []string) (ids []int64) {
	t.Helper()
	if Server(t).Engine() == devdb.MySQL {
		query = onMySQL
	}
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
next:
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				continue next
			}
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}
