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

// verbs are those of the kinds that have one.
var verbs = map[sqltext.Kind]verb{ //nolint:gochecknoglobals // a constant
	sqltext.Unclear: verbUnclear, sqltext.Commits: verbDDL,
	sqltext.Begin: verbBegin, sqltext.Commit: verbCommit, sqltext.Rollback: verbRollback,
	sqltext.XABegin: verbBegin, sqltext.XAPrepare: verbCommit, sqltext.XACommit: verbCommit,
	sqltext.XAEnd: verbXAEnd, sqltext.XARollback: verbRollback,
	sqltext.Savepoint: verbSavepoint, sqltext.RollbackTo: verbUndo, sqltext.Release: verbRelease,
}

// read reads a text.
func read(query string, charset sqltext.Charset) reading {
	r := reading{Statement: sqltext.Classify(query, charset)}
	r.verb = verbs[r.Kind]
	switch {
	case r.Chain && r.verb == verbCommit:
		r.verb = verbBegin // the next one
	case r.Chain: // not among what a lost transaction takes, for something would be open behind it
		r.verb = verbOther
	case r.Autocommit == sqltext.On:
		r.verb = verbAuto
	case r.Autocommit == sqltext.Off:
		r.verb = verbManual
	}
	return r
}
