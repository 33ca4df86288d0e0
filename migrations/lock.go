package migrations

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// sessionLock makes processes that migrate one database take turns. It lives in
// the session that runs the statements: when that session dies, both are gone. It
// saves work and decides nothing, so a server that has no such lock is no error.
type sessionLock struct {
	off bool // for the tests: as on a server that refuses
}

// errNotSupported is what a Galera node answers to GET_LOCK.
const errNotSupported = 1235

// The lock's name is global to the server and at most 64 characters long. The
// wait is short, so that a session whose client is gone does not wait for long.
const (
	lockName  = `CONCAT('onerow_migrate.', LEFT(SHA2(COALESCE(DATABASE(), ''), 256), 40))`
	sqlLock   = `SELECT GET_LOCK(` + lockName + `, 5)`
	sqlUnlock = `SELECT RELEASE_LOCK(` + lockName + `)`
)

// SessionLock waits for the lock until ctx ends.
func (sessionLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	for {
		var got sql.NullInt64
		err := conn.QueryRowContext(ctx, sqlLock).Scan(&got)
		switch {
		case mysqlerr.Number(err) == errNotSupported:
			return nil
		case err != nil:
			return fmt.Errorf("migrations: GET_LOCK: %w", err)
		case got.Int64 == 1:
			return nil
		}
	}
}

// SessionUnlock gives the lock back. When the server does not say that it has it back, the session is closed,
// which returns it too: a session that went back into the pool with the lock would lock everybody out.
func (sessionLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	var released sql.NullInt64
	if err := conn.QueryRowContext(ctx, sqlUnlock).Scan(&released); err == nil && released.Int64 == 1 {
		return nil
	}
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return fmt.Errorf("migrations: close the session that holds the lock: %w", err)
}
