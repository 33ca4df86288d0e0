package txfuzz

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
)

// inTx runs the transaction by InTx or InIdempotentTx.
func (o *op) inTx(ctx context.Context) *record {
	in := onerow.InTx
	if o.idempotent {
		in = onerow.InIdempotentTx
	}
	err := caught(func() error { return in(ctx, o.pool.db, o.run) })
	o.overshoot(ctx, err)
	if o.busy >= often {
		o.found.Add(brokenOften, "%d times: transaction %d (%v): %v", o.busy, o.id, err, o.story)
	}
	v := verdictOf(err)
	if o.idempotent && o.done != nil && number(err) == erDuplicate { // all at once, and it was there
		o.replayed, v = true, acked
	}
	if o.replayed && v == acked {
		o.counts.replays.Add(1)
	}
	if o.cur == nil {
		o.cur = newExpect() // the function was never called
	}
	return o.record(v, err)
}

// often is how many attempts nobody makes for an error that is the statement's own.
const often = 8

// caught runs fn, and tells of a panic as of an error.
func caught(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err, _ = p.(error); !errors.Is(err, errBusiness) {
				panic(p)
			}
		}
	}()
	return fn()
}

// begun is a transaction of the client's own by BeginTx, with statements, and verbs that join it.
func (o *op) begun(ctx context.Context) *record {
	o.attempt()
	o.tell("BeginTx;")
	o.joined = true
	tx, err := o.pool.db.BeginTx(ctx, nil)
	if err != nil {
		return o.record(failed, err)
	}
	rollback := func(err error) *record {
		o.tell("Rollback")
		if rerr := tx.Rollback(); rerr != nil {
			o.tell("→ %s", short(rerr))
		}
		return o.record(failed, err)
	}
	for i := range 2 + o.r.IntN(3) {
		switch {
		case i == 0: // its own row, for others to be duplicates of
			var a atom
			var s onerow.Stmt
			s, a = o.insert()
			o.tell("Exec(%s)", texts([]onerow.Stmt{s}))
			if _, err = tx.ExecContext(ctx, s.Query, s.Args...); err == nil {
				o.cur.wrote(a)
			}
		case o.one(2):
			err = o.exec(ctx, tx)
		default:
			o.tell("join{")
			err = caught(func() error { return onerow.InTx(ctx, tx, o.run) })
			o.tell("}")
		}
		if err != nil {
			return rollback(err)
		}
	}
	if o.one(5) {
		return rollback(errBusiness)
	}
	o.tell("Commit")
	return o.committed(tx.Commit())
}

// committed is the record of a transaction that the client committed himself: what he did not drop is all of
// it.
func (o *op) committed(err error) *record {
	o.done, o.lost = o.cur, nil
	n := number(err)
	switch {
	case err == nil:
		return o.record(acked, nil)
	case errors.Is(err, onerow.ErrTxPoisoned), n == 1213, n == 3101:
		return o.record(failed, err)
	}
	return o.record(unknown, err)
}

// Texts that begin a transaction.
var (
	plainBegins = [][]string{{"BEGIN"}, {"START TRANSACTION"}, {"begin work"}, {"/* x */ START  TRANSACTION"}, {"SET autocommit = 0"}, {"# x\nbegin"}, {"SET @@session.autocommit=OFF"},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT"}}
	disguisedBegins = [][]string{{"START/**/TRANSACTION"}, {"START /*x*/ TRANSACTION"}, {"/*!50000 START TRANSACTION */"}, {"/*! BEGIN */"}, {"SET @o = 0", "SET autocommit = @o"},
		{"/*! SET autocommit = 0 */"}, {"--\nBEGIN"}, {"CALL begins()"}, {"PREPARE p FROM 'SET autocommit = 0'", "EXECUTE p"}, {"SET @x = 1, autocommit = 0"},
		{"SET completion_type = 1", "BEGIN"}, {"SET /* autocommit = 1 */ autocommit = 0"}, {"SET @@autocommit:=0"}, {"BEGIN", "/*!50000 SET @x = 1 */"}, {"SET `autocommit` = 0"}}
	onlyMariaDB = [][]string{{"/*M! START TRANSACTION */"}, {"EXECUTE IMMEDIATE 'SET autocommit = 0'"}, {"EXECUTE IMMEDIATE 'START TRANSACTION'"}, {"SET STATEMENT lock_wait_timeout = 5 FOR START TRANSACTION"}}
)

// session is a transaction in text on a connection of the client's own, which he may forget to end.
func (o *op) session(ctx context.Context) *record {
	o.attempt()
	conn, err := o.pool.db.Conn(ctx)
	if err != nil {
		return o.record(failed, err)
	}
	defer func() { _ = conn.Close() }() //nolint:errcheck // it may be gone with its session
	send := func(query string) error {
		o.tell("%q", query)
		_, err := conn.ExecContext(ctx, query)
		if err != nil {
			o.tell("→ %s", short(err))
		}
		return err //nolint:wrapcheck // it is looked at
	}
	list := plainBegins
	if o.attack == "texts" {
		if list = disguisedBegins; o.mariadb {
			list = append(list[:len(list):len(list)], onlyMariaDB...)
		}
	}
	for _, query := range list[o.r.IntN(len(list))] {
		if err := send(query); err != nil {
			return o.record(failed, err)
		}
	}
	rows := 1 + o.r.IntN(3)
	for range rows {
		if err := o.exec(ctx, conn); err != nil {
			if o.one(2) {
				_ = send("ROLLBACK") //nolint:errcheck // nothing of it may be there in either case
			}
			return o.record(failed, err)
		}
	}
	if o.attack == "texts" && o.one(2) {
		if err := o.disguisedUndo(ctx, conn, send); err != nil {
			return o.record(failed, err)
		}
	}
	switch k := o.r.IntN(8); {
	case k < 4:
		commits := []string{"COMMIT", "commit;", "/* x */ COMMIT", "COMMIT WORK", "COMMIT AND NO CHAIN", "COMMIT AND CHAIN", "SET autocommit = 0", "-- x\nCommit -- y"}
		query := commits[o.r.IntN(len(commits))]
		if query == "SET autocommit = 0" { // and then on: that commits
			if err := send(query); err != nil {
				return o.record(failed, err)
			}
			query = "SET autocommit = 1"
		}
		return o.committed(send(query))
	case k < 6:
		rollbacks := []string{"ROLLBACK", "rollback work", "/* x */ ROLLBACK;", "ROLLBACK AND NO CHAIN"}
		err := send(rollbacks[o.r.IntN(len(rollbacks))])
		return o.record(failed, err)
	}
	o.tell("forgotten")
	return o.record(failed, errBusiness)
}

var disguisedUndos = []string{"ROLLBACK /*x*/ TO SAVEPOINT s", "ROLLBACK/**/WORK/**/TO/**/s", "/*!50000 ROLLBACK TO SAVEPOINT s */", "ROLLBACK -- x\nTO s", "ROLLBACK # x\nTO SAVEPOINT s"}

// disguisedUndo goes back to a savepoint by texts that look like a whole ROLLBACK, or like none.
func (o *op) disguisedUndo(ctx context.Context, conn *sql.Conn, send func(string) error) error {
	if err := send("SAVEPOINT s"); err != nil {
		return err
	}
	was := o.cur.clone()
	if err := o.exec(ctx, conn); err != nil {
		return err
	}
	if err := send(disguisedUndos[o.r.IntN(len(disguisedUndos))]); err != nil {
		return err
	}
	o.cur = was
	return nil
}
