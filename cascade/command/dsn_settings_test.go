package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestDSNCharset: with no character set that a DSN can ask for does an argument end its quotes.
func TestDSNCharset(t *testing.T) {
	t.Parallel()
	base := dbtest.DSN(t)
	base = base[:strings.IndexByte(base, '?')]
	for _, params := range []string{"", "charset=gbk", "charset=utf8mb4,gbk", "charset=big5", "charset=latin1", "charset=utf8mb4", "collation=gbk_bin"} {
		t.Run(params, func(t *testing.T) {
			a := &shell.App{Environment: shell.Environment{Getenv: func(string) string { return "" }}, DSN: base + "?" + params}
			db, err := a.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			var n int
			// An error is no injection: the bytes are no text in most character sets.
			err = onerow.QueryRow(t.Context(), db, "SELECT COUNT(*) FROM (SELECT 'ada' AS name) a WHERE name = ?", []any{"\xbf' OR 1=1 -- "}, &n)
			if n != 0 || err != nil && strings.Contains(err.Error(), "1064") {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}

// TestDSNSettings: a setting with which the worker would do harm is refused before it connects, and the error
// says what to change.
func TestDSNSettings(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		"charset=gbk&interpolateParams=true": "charset=utf8mb4", "character_set_client=sjis&interpolateParams=true": "charset=utf8mb4",
		"character_set_client=gbk": "charset=utf8mb4", "completion_type='CHAIN'": "NO_CHAIN", "sql_select_limit=1000": "18446744073709551615",
		"autocommit=0": "autocommit", "tx_isolation='READ-UNCOMMITTED'": "READ-COMMITTED", "transaction_isolation=%27read-uncommitted%27": "READ-COMMITTED",
	} {
		const form = "app:hunter2@tcp(127.0.0.1:1)/shop?"
		a := &shell.App{Environment: shell.Environment{Getenv: func(string) string { return "" }}, DSN: form + params}
		_, err := a.Open(t.Context()) //nolint:sqlclosecheck // there is none
		if !errors.Is(err, usage.Err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", form+params, err)
		}
	}
}
