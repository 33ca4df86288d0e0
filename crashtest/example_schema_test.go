package crashtest_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// exampleT lets dbtest make a schema for an example, which has no testing.T.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (e *exampleT) Helper()                           {}
func (e *exampleT) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (e *exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// exampleSchema makes the tables of the examples on the server of this test binary.
func exampleSchema() (dsn string, drop func()) {
	t := &exampleT{}
	dsn = dbtest.DSN(t, dbtest.Param("interpolateParams", "true"))
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		panic(err)
	}
	defer closeDB(db)
	for _, query := range []string{
		"CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE booking (id BIGINT AUTO_INCREMENT PRIMARY KEY, seat INT NOT NULL, who VARCHAR(20) NOT NULL, KEY (seat)) ENGINE=InnoDB",
		"CREATE TABLE seat_taken (seat INT PRIMARY KEY, who VARCHAR(20) NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE transfer (request_id VARBINARY(64) PRIMARY KEY, amount BIGINT NOT NULL) ENGINE=InnoDB",
	} {
		if _, err := db.Exec(query); err != nil {
			panic(err)
		}
	}
	return dsn, func() {
		for _, f := range t.cleanups {
			f()
		}
	}
}

func closeDB(db *sql.DB) {
	if err := db.Close(); err != nil {
		panic(err)
	}
}
