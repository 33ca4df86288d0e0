package onerow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/sqltext"
)

// ErrEndsTx means: the statement would end the transaction that it was to be a part of. It was not run, and
// the transaction is as it was. Leave BEGIN, COMMIT and ROLLBACK to [InTx], and change tables elsewhere: a
// server commits what is open before CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES and the like, and what
// follows would be committed by itself.
var ErrEndsTx = errors.New("onerow: the statement would end the transaction, and was not run")

// ErrTxEnded means: a statement of which a text does not show what it does, CALL for one, has ended the
// transaction. What was written before, and by it, may be committed; nothing was run after it. No call is run
// again for that.
var ErrTxEnded = errors.New("onerow: a statement has ended the transaction; what was written up to it may be committed")

// verb is what a statement does to the transaction of its session.
type verb int8

const (
	verbOther verb = iota
	verbBegin
	verbCommit
	verbRollback // all of it, not to a savepoint
	verbXAEnd    // what MySQL wants before XA ROLLBACK
	verbManual   // SET autocommit = 0
	verbAuto     // SET autocommit = 1
	verbSavepoint
	verbUndo // ROLLBACK TO
	verbRelease
	verbDDL     // and what else commits before it does anything
	verbUnclear // not understood: anything
)

// reading is what is understood of a text.
type reading struct {
	sqltext.Statement
	verb verb
}

// anyMode is how a text is read of whose session nothing is known but that its client writes UTF-8.
func anyMode() sqltext.Mode { return sqltext.Mode{Unknown: true, Charset: sqltext.UTF8} }

// read reads a text.
func read(query string, mode sqltext.Mode) reading {
	r := reading{Statement: sqltext.Classify(query, mode)}
	switch r.Kind {
	case sqltext.Unclear:
		r.verb = verbUnclear
	case sqltext.Begin, sqltext.XABegin:
		r.verb = verbBegin
	case sqltext.Commit, sqltext.XAPrepare, sqltext.XACommit:
		r.verb = verbCommit
	case sqltext.Rollback:
		if r.verb = verbRollback; r.Chain { // not among what a lost transaction takes, for something would be open behind it
			r.verb = verbOther
		}
	case sqltext.XARollback:
		r.verb = verbRollback
	case sqltext.XAEnd:
		r.verb = verbXAEnd
	case sqltext.Savepoint:
		r.verb = verbSavepoint
	case sqltext.RollbackTo:
		r.verb = verbUndo
	case sqltext.Release:
		r.verb = verbRelease
	case sqltext.Commits:
		r.verb = verbDDL
	case sqltext.Set:
		switch r.Autocommit {
		case sqltext.On:
			r.verb = verbAuto
		case sqltext.Off:
			r.verb = verbManual
		}
	}
	if r.verb == verbCommit && r.Chain {
		r.verb = verbBegin // the next one
	}
	return r
}

// ends says whether a statement ends the transaction that it is run in.
func (r reading) ends() bool {
	switch r.verb {
	case verbBegin, verbCommit, verbRollback, verbXAEnd, verbManual, verbAuto, verbDDL:
		return true
	}
	return r.Kind == sqltext.Rollback // AND CHAIN
}

// refused is the error of one that was not run for that.
func (r reading) refused() error { return fmt.Errorf("%w: %s", ErrEndsTx, r.Kind) }

// chains says whether COMMIT begins a transaction from now on, by completion_type.
func (r reading) chains() bool {
	v, found := r.Setting("completion_type")
	return found && (!v.Known || v.Value != "0" && !strings.EqualFold(v.Value, "NO_CHAIN"))
}

// wrote says whether the statement may have written; affected is negative where it is not known, as for a
// query. A write that changed no row is none. What a trigger does besides is not seen.
func (r reading) wrote(affected int64, err error) bool {
	switch r.Kind {
	case sqltext.Read, sqltext.Savepoint, sqltext.RollbackTo, sqltext.Release, sqltext.Rollback, sqltext.Use:
		return false
	case sqltext.Set:
		return r.Calls
	case sqltext.Write:
		return err == nil && affected != 0
	}
	return true
}
