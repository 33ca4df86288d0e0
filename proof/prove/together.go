package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// together calls f n times at once, and returns what each has answered.
func together(n int, f func(i int) error) []error {
	answers := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			answers[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return answers
}

// again is how often a transaction by hand is run that the server refuses.
const again = 20

// byHand runs a transaction as a program without the toolkit does, again where the server refuses it.
func byHand(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) (err error) {
	for range again {
		if err = once(ctx, db, f); !mysqlerr.MayRunAgain(err) {
			return err
		}
	}
	return fmt.Errorf("refused %d times: %w", again, err)
}

func once(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

// ignoreDone: the context has ended it.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// begin is a session of a pool's with a transaction, and what ends both.
func begin(ctx context.Context, db *sql.DB, settings ...string) (conn *sql.Conn, end func(), err error) {
	if conn, err = db.Conn(ctx); err != nil {
		return nil, nil, err
	}
	for _, statement := range append(settings, "BEGIN") {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			discard(conn)
			return nil, nil, err
		}
	}
	return conn, func() { discard(conn) }, nil
}

// discard closes a session without a word to the server, as a program does that dies.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it is what closes it
	_ = conn.Close()                                           //nolint:errcheck // it is closed
}
