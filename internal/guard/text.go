package guard

import "github.com/onerow/onerow/internal/sqltext"

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

// read reads a text.
func read(query string, charset sqltext.Charset) reading {
	r := reading{Statement: sqltext.Classify(query, charset)}
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
