package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// patience bounds every wait for the server: a session that ends, a connection that comes back to the pool.
const patience = 5 * time.Second

// server is what the observer asks and does, on a connection of its own that is never faulted: it kills
// sessions, sees them end, and says who waits for a lock.
type server struct {
	db      *sql.DB
	version string
	mariaDB bool
}

// Where a session is listed until the server has rolled its transaction back. Both were held against
// rollbacks of thousands of rows: MySQL takes a session from its process list, and answers KILL with "unknown
// thread", when the socket is closed, long before the locks are free.
const (
	sqlListedByMaria = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?`
	sqlListedByMy    = `SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = ?`
)

// newServer asks the server what it is, and what else is needed once, so that a missing privilege shows
// before anything else happens: on MySQL for its performance schema, which is on by default; with stops who
// waits.
func newServer(ctx context.Context, db *sql.DB, stops bool) (*server, error) {
	s := &server{db: db}
	var me, listed int
	if err := db.QueryRowContext(ctx, "SELECT VERSION(), CONNECTION_ID()").Scan(&s.version, &me); err != nil {
		return nil, fmt.Errorf("asking the server who it is: %w", err)
	}
	s.mariaDB = strings.Contains(s.version, "MariaDB")
	if !s.mariaDB {
		if err := db.QueryRowContext(ctx, sqlListedByMy, me).Scan(&listed); err != nil {
			return nil, fmt.Errorf("seeing when a session has ended needs SELECT on performance_schema.threads: %w", err)
		}
		if listed == 0 {
			return nil, errors.New("seeing when a session has ended needs a server with performance_schema=ON")
		}
	}
	if stops {
		if _, err := s.forRows(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", errPrivilege, err)
		}
	}
	return s, nil
}

// errPrivilege is a user who may not see who waits.
var errPrivilege = errors.New("seeing who waits for a lock needs the PROCESS privilege, and on MySQL SELECT on performance_schema")

// sqlKill needs no privilege for sessions of the same user.
const sqlKill = `KILL CONNECTION ?`

// noSuchThread is the server's answer to KILL for a session that is gone already.
const noSuchThread = 1094

// kill ends a session and returns when it is gone, which the server's answer to KILL does not say yet.
func (s *server) kill(serverID uint64) error {
	_, err := s.db.ExecContext(context.Background(), sqlKill, serverID)
	if err != nil && mysqlerr.Number(err) != noSuchThread {
		return fmt.Errorf("killing session %d: %w", serverID, err)
	}
	return s.awaitEnd(serverID)
}

// awaitEnd returns when a session that was closed or killed has ended on the server: its transaction is
// rolled back, its locks are free.
func (s *server) awaitEnd(serverID uint64) error {
	listedSQL := sqlListedByMy
	if s.mariaDB {
		listedSQL = sqlListedByMaria
	}
	return await(fmt.Sprintf("session %d to end on the server", serverID), func() (bool, error) {
		var listed int
		err := s.db.QueryRowContext(context.Background(), listedSQL, serverID).Scan(&listed)
		return listed == 0, err
	})
}

// settle waits until the call has given all its connections back. A rollback that database/sql began because
// a context ended may still be under way when the call returns.
func settle(db *sql.DB) error {
	return await("the connections of the call to come back", func() (bool, error) {
		return db.Stats().InUse == 0, nil
	})
}

// await polls until the condition holds: at once, then at growing distances of up to 2 ms, for at most
// patience.
func await(what string, holds func() (bool, error)) error {
	begin := time.Now()
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		ok, err := holds()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		if time.Since(begin) > patience {
			return fmt.Errorf("waiting for %s: not within %s", what, patience)
		}
		<-time.After(pause)
	}
}

// named names the engine and the isolation level that sessions of db get, for the report.
func (s *server) named(ctx context.Context, db *sql.DB) (engine, isolation string, err error) {
	engine, query := "MySQL "+s.version, "SELECT @@transaction_isolation"
	if s.mariaDB { // knows the newer name since 11.1 only
		engine, query = s.version, "SELECT @@tx_isolation"
	}
	if err = db.QueryRowContext(ctx, query).Scan(&isolation); err != nil {
		err = fmt.Errorf("asking for the isolation level: %w", err)
	}
	return engine, isolation, err
}

// connectionID asks a session for its id on the server.
func connectionID(ctx context.Context, inner driverConn) (uint64, error) {
	rows, err := inner.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return 0, err
	}
	values := make([]driver.Value, 1)
	var id sql.Null[uint64]
	if err = rows.Next(values); err == nil {
		err = id.Scan(values[0])
	}
	return id.V, errors.Join(err, rows.Close())
}
