package idempotency_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// eachLevel runs a test on a schema of its own for each isolation level.
func eachLevel(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			test(t, db)
		})
	}
}

// eachStale is eachLevel where a write behind a snapshot is not refused, which is MariaDB 11.8's default.
func eachStale(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			test(t, db)
		})
	}
}

// open makes a schema with the toolkit's tables and the application's: an account
// and the charges of it.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_key", "onerow_admission")
	dbtest.Exec(t, db, "CREATE TABLE charge (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, amount INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "CREATE TABLE account (id BIGINT NOT NULL PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO account (id, balance) VALUES (1, 0)")
	return db, dsn
}

// quiet opens a pool whose connections will be cut: each would be a line of the driver's log.
func quiet(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	cfg := must(mysql.ParseDSN(dsn))
	cfg.Logger = &mysql.NopLogger{}
	db := sql.OpenDB(must(mysql.NewConnector(cfg)))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("unexpected error: %v", err))
	}
	return v
}

func newKeys(t testing.TB, cfg idempotency.Config) *idempotency.Keys {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "tester"
	}
	keys, err := idempotency.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func key(id string) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "charge", ID: id}
}

// receipt is a result.
type receipt struct {
	ID     int64  `json:"id"`
	Amount int    `json:"amount"`
	Note   string `json:"note,omitempty"`
}

// charge inserts a charge and answers with its receipt.
func charge(amount int) func(context.Context, *onerow.Tx) (receipt, error) {
	return func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		res, err := tx.ExecContext(ctx, "INSERT INTO charge (amount) VALUES (?)", amount)
		if err != nil {
			return receipt{}, err
		}
		id, err := res.LastInsertId()
		return receipt{ID: id, Amount: amount}, err
	}
}

func charges(t testing.TB, db onerow.DB) int {
	t.Helper()
	return dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM charge")
}

// begun is a claim that must be won.
func begun(t testing.TB, db onerow.DB, keys *idempotency.Keys, k idempotency.Key, opts ...idempotency.Options) idempotency.Claim {
	t.Helper()
	claim, out, err := idempotency.Begin[receipt](t.Context(), db, keys, k, opts...)
	if err != nil || out != nil {
		t.Fatalf("Begin: %+v, %v", out, err)
	}
	return claim
}

// leaseEnded waits until the lease of a key has ended by the database's clock.
func leaseEnded(t testing.TB, db onerow.DB, k idempotency.Key) {
	t.Helper()
	dbtest.Eventually(t, 5*time.Second, func() (bool, string) {
		return dbtest.Scan[bool](t, db, "SELECT lease_until <= UTC_TIMESTAMP(6) FROM onerow_key WHERE idem_key = ?", []byte(k.ID)), "the lease runs"
	})
}

// dsnWith is a schema's DSN for connections of another character set.
func dsnWith(t testing.TB, dsn, charset, collation, interpolate string) string {
	t.Helper()
	cfg := must(mysql.ParseDSN(dsn))
	cfg.Collation, cfg.InterpolateParams = collation, interpolate == "true"
	if err := cfg.Apply(mysql.Charset(charset, collation)); err != nil {
		t.Fatal(err)
	}
	return cfg.FormatDSN()
}
