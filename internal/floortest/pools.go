package floortest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
)

// Bare is a data source name for a fresh schema with no parameters but these.
func Bare(t testing.TB, params ...string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dbtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	bare := mysql.NewConfig()
	bare.User, bare.Passwd, bare.Net, bare.Addr, bare.DBName, bare.TLSConfig = cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName, cfg.TLSConfig
	dsn := bare.FormatDSN()
	sep := "?"
	if strings.Contains(dsn, "?") {
		sep = "&"
	}
	for _, p := range params {
		dsn += sep + p
		sep = "&"
	}
	return dsn
}

// Opened is a pool of pool.Open, until the test ends.
func Opened(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := pool.Open(dsn)
	if err != nil {
		t.Fatalf("%s: %v", dsn, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Pools opens the schema of dsn with the guard and, as a control, without.
func Pools(t testing.TB, dsn string) map[string]*sql.DB {
	t.Helper()
	guarded, err := pool.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guarded.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]*sql.DB{"guarded": guarded, "bare": dbtest.OpenDSN(t, dsn)}
}

// Connector is the driver's.
func Connector(t testing.TB, dsn string) driver.Connector {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// PoolOf is a pool on a connector, until the test ends.
func PoolOf(t testing.TB, c driver.Connector, guarded bool) *sql.DB {
	t.Helper()
	if guarded {
		c = pool.Guard(c)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Private starts a server with flags of its own, and returns the data source name of a schema on it.
func Private(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	server, err := devdb.Start(ctx, devdb.Options{Private: true, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	return server.DSN("app")
}
