package flow_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// open makes a schema with the toolkit's tables and a table of carts.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_flow")
	dbtest.Exec(t, db, "CREATE TABLE cart (id BIGINT PRIMARY KEY, total BIGINT NOT NULL, version BIGINT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO cart VALUES (42, 0, 1)")
	return db, dsn
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got the error %v, want %v", err, want)
	}
}

// run is a stage of the validation of cart 42.
func run(stage, request string) flow.Run {
	return flow.Run{Flow: "cart/42", Stage: stage, RequestID: request}
}
