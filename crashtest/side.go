package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// patience bounds every wait for the server: a session that ends, a connection that comes back to the pool.
const patience = 5 * time.Second

// side is the observer's own connection: it kills sessions, sees them end and reads tables, and is never
// faulted.
type side struct {
	db *sql.DB
	// listedSQL counts the sessions with an id, until their transaction is rolled back.
	listedSQL string
}

// Where a session is listed until the server has rolled its transaction back. Both were held against
// rollbacks of thousands of rows: MySQL takes a session from its process list, and answers KILL with "unknown
// thread", when the socket is closed, long before the locks are free.
const (
	listedByMariaDB = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?`
	sqlListedByMy   = `SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = ?`
)

// newSide asks the server what it is. MySQL needs its performance schema, which is on by default.
func newSide(ctx context.Context, db *sql.DB) (*side, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, fmt.Errorf("asking the server who it is: %w", err)
	}
	if isMariaDB(version) {
		return &side{db, listedByMariaDB}, nil
	}
	s := &side{db, sqlListedByMy}
	var me, listed int
	if err := db.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&me); err != nil {
		return nil, fmt.Errorf("asking the server for the session: %w", err)
	}
	if err := db.QueryRowContext(ctx, s.listedSQL, me).Scan(&listed); err != nil {
		return nil, fmt.Errorf("seeing when a session has ended needs SELECT on performance_schema.threads: %w", err)
	}
	if listed == 0 {
		return nil, errors.New("seeing when a session has ended needs a server with performance_schema=ON")
	}
	return s, nil
}

func isMariaDB(version string) bool { return strings.Contains(version, "MariaDB") }

// sqlKill needs no privilege for sessions of the same user.
const sqlKill = `KILL CONNECTION ?`

// noSuchThread is the server's answer to KILL for a session that is gone already.
const noSuchThread = 1094

// kill ends a session and returns when it is gone, which the server's answer to KILL does not say yet.
func (s *side) kill(serverID uint64) error {
	_, err := s.db.ExecContext(context.Background(), sqlKill, serverID)
	var answer *mysql.MySQLError
	if err != nil && (!errors.As(err, &answer) || answer.Number != noSuchThread) {
		return fmt.Errorf("killing session %d: %w", serverID, err)
	}
	return s.awaitEnd(serverID)
}

// awaitEnd returns when a session that was closed or killed has ended on the server: its transaction is
// rolled back, its locks are free.
func (s *side) awaitEnd(serverID uint64) error {
	return await(fmt.Sprintf("session %d to end on the server", serverID), func() (bool, error) {
		var listed int
		err := s.db.QueryRowContext(context.Background(), s.listedSQL, serverID).Scan(&listed)
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

// serverOf names the engine and the isolation level that sessions of db get, for the report.
func serverOf(ctx context.Context, db *sql.DB) (engine, isolation string, err error) {
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&engine); err != nil {
		return "", "", err
	}
	query := "SELECT @@transaction_isolation"
	if isMariaDB(engine) { // knows the newer name since 11.1 only
		query = "SELECT @@tx_isolation"
	} else {
		engine = "MySQL " + engine
	}
	err = db.QueryRowContext(ctx, query).Scan(&isolation)
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
