package keyadmin_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// open makes a schema with the toolkit's tables.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_key", "onerow_admission")
	return db, dsn
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("unexpected error: %v", err))
	}
	return v
}

func second[T any](_ T, err error) error { return err }

func newKeys(t testing.TB, cfg idempotency.Config) *idempotency.Keys {
	t.Helper()
	keys, err := idempotency.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func key(id string) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "charge", ID: id}
}

// begun is a claim that must be won.
func begun(t testing.TB, db onerow.DB, keys *idempotency.Keys, k idempotency.Key, opts ...idempotency.Options) idempotency.Claim {
	t.Helper()
	claim, out, err := idempotency.Begin[int](t.Context(), db, keys, k, opts...)
	if err != nil || out != nil {
		t.Fatalf("Begin: %+v, %v", out, err)
	}
	return claim
}
