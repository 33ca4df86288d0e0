package crashtest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shopTables are the tables of the tests' own workflow: somebody buys something.
var shopTables = []string{
	`CREATE TABLE purchase (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer VARCHAR(64) NOT NULL, item VARCHAR(64) NOT NULL,
		created_at DATETIME(6) NOT NULL, KEY (buyer)) ENGINE=InnoDB`,
	`CREATE TABLE request (request_id VARBINARY(64) PRIMARY KEY, purchase_id BIGINT NULL) ENGINE=InnoDB`,
	`CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, purchase_id BIGINT NOT NULL, what VARCHAR(64) NOT NULL,
		at TIMESTAMP(6) NULL) ENGINE=InnoDB`,
}

func mustExec(t testing.TB, db *sql.DB, queries ...string) {
	t.Helper()
	for _, query := range queries {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// shopDSN makes a schema with the tables.
func shopDSN(t testing.TB, opts ...dbtest.Option) string {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	mustExec(t, dbtest.OpenDSN(t, dsn), shopTables...)
	return dsn
}

// emptyShop is the Setup of the tests: one purchase by somebody else.
func emptyShop(ctx context.Context, db *sql.DB) error {
	for _, query := range []string{
		"DELETE FROM purchase", "DELETE FROM request", "DELETE FROM audit",
		"INSERT INTO purchase (buyer, item, created_at) VALUES ('bob', 'hat', UTC_TIMESTAMP(6))",
	} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

func configOf(t testing.TB, dsn string) *mysql.Config {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = &mysql.NopLogger{}
	return cfg
}
