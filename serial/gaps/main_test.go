package gaps_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// cards are the postcards of open.
var cards = gaps.Table{Name: "postcard", Series: "campaign", From: "from_no", To: "to_no", Key: "id", Voided: "voided_at"}

// open makes a schema with the toolkit's tables and a table of postcards.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_serial")
	dbtest.Exec(t, db, `CREATE TABLE postcard (id VARCHAR(64) PRIMARY KEY, campaign VARCHAR(64) NOT NULL, from_no BIGINT NULL, to_no BIGINT NULL,
		voided_at DATETIME(6) NULL) ENGINE=InnoDB`)
	return db, dsn
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func series(t testing.TB, name string) *serial.Series {
	t.Helper()
	return must(serial.New(name))
}

// TestNames: what can be no name is told before anything is sent.
func TestNames(t *testing.T) {
	db, _ := open(t)
	if _, err := (gaps.Table{Name: "t`"}).Find(t.Context(), db, ""); !errors.Is(err, serial.ErrInvalidArgument) {
		t.Error(err)
	}
}
