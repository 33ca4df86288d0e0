package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// killTime is how long it may take to end a statement in the server, within the two
// seconds that a signal is given.
const killTime = time.Second

const erNoSuchThread = 1094

// killable gives do a connection of its own for SQL that somebody typed, and when ctx
// ends it ends what that connection executes. The driver only hangs up then, which a
// server that is busy with the statement does not notice: it would go on for as long as it
// takes, and keep the table from being altered. A user may kill its own connections.
// One statement, and one more when ctx ends.
func killable(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var id uint64
	if err := onerow.QueryRow(ctx, conn, "SELECT CONNECTION_ID()", nil, &id); err != nil {
		return err
	}
	killed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { killed <- kill(ctx, db, id) })
	err = do(conn)
	switch stopped := stop(); {
	case !stopped: // so that the process does not end before
		err = errors.Join(err, <-killed)
	case ctx.Err() != nil: // the driver was told before the function above was
		err = errors.Join(err, kill(ctx, db, id))
	}
	return err
}

func kill(ctx context.Context, db *sql.DB, id uint64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	_, err := db.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	var my *mysql.MySQLError
	if err == nil || errors.As(err, &my) && my.Number == erNoSuchThread {
		return nil
	}
	return fmt.Errorf("the statement may still run in the server, as its connection %d: %w", id, err)
}
