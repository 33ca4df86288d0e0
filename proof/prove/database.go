package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// prefix begins each database's name; the random digits follow.
const prefix = "onerow_prove_"

var named = regexp.MustCompile(`^` + prefix + `[0-9a-f]{8}$`)

// The mark is a table that nobody else makes. Its row names the database, so that a copy under another name
// has no mark. The lock is held as long as the run is at work.
const (
	markTable   = "onerow_prove_mark"
	sqlMake     = `CREATE DATABASE `
	sqlMark     = `CREATE TABLE %s.` + markTable + ` (name VARCHAR(64) PRIMARY KEY, note VARCHAR(200) NOT NULL, host VARCHAR(100) NOT NULL, pid INT NOT NULL, begun_at VARCHAR(40) NOT NULL) ENGINE=InnoDB`
	sqlSign     = `INSERT INTO %s.` + markTable + ` VALUES (?, 'made by onerow''s prove; nothing else belongs here', ?, ?, ?)`
	sqlReadMark = `SELECT host, pid, begun_at FROM %s.` + markTable + ` WHERE name = ?`
	sqlAtWork   = `DO GET_LOCK(?, 0)`
	sqlIsFree   = `SELECT COALESCE(IS_FREE_LOCK(?), 1)`
	sqlLeft     = `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE LEFT(SCHEMA_NAME, 13) = '` + prefix + `' ORDER BY SCHEMA_NAME`
	sqlBeBrief  = `SET SESSION lock_wait_timeout = 15`
	sqlDrop     = `DROP DATABASE `
)

// newName is one that nobody has.
func newName() string {
	var digits [4]byte
	_, _ = rand.Read(digits[:]) //nolint:errcheck // it never fails
	return prefix + hex.EncodeToString(digits[:])
}

// mark is what a marked database says of the run that made it.
type mark struct {
	host, begun string
	pid         int
}

// makeDatabase makes the database and marks it. What is made by half has no mark, and so is never dropped but
// here, where nobody else can have it.
func makeDatabase(ctx context.Context, admin *sql.DB, name string) error {
	if _, err := admin.ExecContext(ctx, sqlMake+ident.Quote(name)); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	_, err = admin.ExecContext(ctx, fmt.Sprintf(sqlMark, ident.Quote(name)))
	if err == nil {
		_, err = admin.ExecContext(ctx, fmt.Sprintf(sqlSign, ident.Quote(name)), name, host, os.Getpid(), time.Now().UTC().Format(time.RFC3339)) //nolint:gosec // the name is ours
	}
	if err == nil {
		return nil
	}
	_, derr := admin.ExecContext(context.WithoutCancel(ctx), sqlDrop+ident.Quote(name))
	return errors.Join(err, derr)
}

// errUnmarked is a database without a mark: somebody else's.
var errUnmarked = errors.New("it has no mark of this program")

// readMark asks a database whether it is ours.
func readMark(ctx context.Context, admin *sql.DB, name string) (m mark, err error) {
	const erNoTable, erNoColumn, erNoDatabase = 1146, 1054, 1049
	err = admin.QueryRowContext(ctx, fmt.Sprintf(sqlReadMark, ident.Quote(name)), name).Scan(&m.host, &m.pid, &m.begun) //nolint:gosec // quoted
	switch number := mysqlerr.Number(err); {
	case errors.Is(err, sql.ErrNoRows), number == erNoTable, number == erNoColumn:
		return m, errUnmarked
	case number == erNoDatabase:
		return m, errors.New("there is no such database")
	}
	return m, err
}

// dropDatabase drops a database that has the mark, and no other.
func dropDatabase(ctx context.Context, admin *sql.DB, name string) error {
	if _, err := readMark(ctx, admin, name); err != nil {
		return fmt.Errorf("%s is not dropped: %w", name, err)
	}
	conn, err := admin.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing more is done with it
	if _, err := conn.ExecContext(ctx, sqlBeBrief); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, sqlDrop+ident.Quote(name)); err != nil {
		return fmt.Errorf("%s is not dropped: %w", name, err)
	}
	return nil
}

// nameLeft tells of the databases that earlier runs have left, and of those that look like it.
func nameLeft(ctx context.Context, admin *sql.DB, out io.Writer) error {
	names, err := texts(ctx, admin, sqlLeft)
	if err != nil {
		return err
	}
	for _, name := range names {
		m, err := readMark(ctx, admin, name)
		if errors.Is(err, errUnmarked) {
			say(out, "There is a database %s without a mark of this program. It is left alone.\n", name)
			continue
		}
		if err != nil {
			say(out, "There is a database %s. Whether a run has left it cannot be told: %s\n", name, message(err))
			continue
		}
		free, err := isFree(ctx, admin, name)
		switch {
		case err != nil:
			return err
		case free:
			say(out, "An earlier run (begun %s on %s, process %d) has left the database %s. Drop it with -drop %s.\n", m.begun, m.host, m.pid, name, name)
		default:
			say(out, "Another run (begun %s on %s, process %d) is at work in %s.\n", m.begun, m.host, m.pid, name)
		}
	}
	return nil
}

func isFree(ctx context.Context, admin *sql.DB, name string) (free bool, err error) {
	err = admin.QueryRowContext(ctx, sqlIsFree, name).Scan(&free)
	return free, err
}

// dropLeft is -drop.
func dropLeft(ctx context.Context, servers servers, name string, out io.Writer) (code int, err error) {
	if !named.MatchString(name) {
		return exitNoRun, fmt.Errorf("no run has made a database with the name %q", name)
	}
	admin, err := connectAdmin(ctx, servers.dsn)
	if err != nil {
		return exitNoRun, err
	}
	defer admin.Close() //nolint:errcheck // the answer is there
	switch free, err := isFree(ctx, admin, name); {
	case err != nil:
		return exitNoRun, unreachable(servers.dsn, err)
	case !free:
		return exitNoRun, fmt.Errorf("a run is at work in %s", name)
	}
	if err := dropDatabase(ctx, admin, name); err != nil {
		return exitNoRun, err
	}
	say(out, "%s is gone.\n", name)
	return exitHolds, nil
}

// texts are the first column of an answer.
func texts(ctx context.Context, db *sql.DB, query string, args ...any) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
