package sqltext

import "strings"

// Kind is what a text does to its session.
type Kind int8

// The kinds of statements.
const (
	Unclear Kind = iota // not understood: anything

	Begin      // BEGIN, START TRANSACTION: commits what is open
	Commit     // COMMIT, see Chain and Quits
	Rollback   // ROLLBACK, all of it, see Chain and Quits
	Savepoint  // SAVEPOINT name
	RollbackTo // ROLLBACK TO name
	Release    // RELEASE SAVEPOINT name

	XABegin    // XA START
	XAEnd      // XA END
	XAPrepare  // XA PREPARE
	XACommit   // XA COMMIT
	XARollback // XA ROLLBACK

	Set       // of variables: see Autocommit and Sets
	Use       // USE name
	Read      // writes nothing
	Write     // writes, or calls what may
	Temporary // creates or drops a temporary table, which ends no transaction
	Commits   // DDL and whatever else ends an open transaction by itself, even if it then fails
)

var kinds = [...]string{ //nolint:gochecknoglobals // a constant
	"Unclear", "Begin", "Commit", "Rollback", "Savepoint", "RollbackTo", "Release", "XABegin", "XAEnd", "XAPrepare", "XACommit", "XARollback",
	"Set", "Use", "Read", "Write", "Temporary", "Commits",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return "Kind(?)"
	}
	return kinds[k]
}

// Autocommit is what a statement does to the variable.
type Autocommit int8

// What SET autocommit sets. A value that the text does not show makes the statement Unclear.
const (
	Unchanged Autocommit = iota
	On                   // commits what is open if it was off; if it was on, nothing happens
	Off
)

// Statement is what is known of a text.
type Statement struct {
	Kind Kind
	// Name is the savepoint's or the schema's, without quotes. It is compared without regard to case.
	Name string
	// Placeholders are the question marks outside of quotes and comments.
	Placeholders int
	// Travels says that others may be sent in one packet with it, see [Single].
	Travels bool
	// Differs says that a driver that puts arguments into the text may make another one of it than the server
	// that is given them: a = 7? becomes a = 73, and ? 'name' one string.
	Differs bool
	// Calls says that something is called that is no built-in function of both servers: it may write, but not
	// commit. A SELECT with it is a Write.
	Calls bool
	// Chain: COMMIT or ROLLBACK begins the next transaction at once. NoChain and NoQuit say that it does not,
	// whatever completion_type says.
	Chain, NoChain bool
	// Quits: COMMIT or ROLLBACK closes the session (RELEASE).
	Quits, NoQuit bool
	// Locks: the session may hold locks of tables from now on, whatever becomes of its transaction.
	Locks bool
	// ReadOnly is that of a Begin.
	ReadOnly   bool
	Autocommit Autocommit
	// Sets are the assignments of a Set, in their order.
	Sets []Setting
}

// Setting is an assignment of SET.
type Setting struct {
	// Name is the variable in lower case. A user's variable begins with @. SET NAMES, SET CHARACTER SET, SET
	// TRANSACTION and SET ROLE are "names", "character set", "transaction" and "role", without a value.
	Name string
	// Value is a word, number or string without its quotes; Known is false for anything else, DEFAULT too.
	Value string
	Known bool
	// Global says that this session's value stays what it is.
	Global bool
}

// ChangesMode says whether further texts of the session may be read in another way: the [Mode] that was is
// none any more.
func (s Statement) ChangesMode() bool {
	if s.Kind == Unclear {
		return true
	}
	for _, v := range s.Sets {
		switch v.Name {
		case "sql_mode", "character_set_client", "names", "character set":
			if !v.Global {
				return true
			}
		}
	}
	return false
}

// Setting returns the last assignment of a variable of the session.
func (s Statement) Setting(name string) (Setting, bool) {
	for i := len(s.Sets) - 1; i >= 0; i-- {
		if v := s.Sets[i]; v.Name == name && !v.Global {
			return v, true
		}
	}
	return Setting{}, false
}

// EndsTx says whether the statement ends the transaction that it is run in.
func (s Statement) EndsTx() bool {
	switch s.Kind {
	case Begin, Commit, Rollback, XABegin, XAEnd, XAPrepare, XACommit, XARollback, Commits:
		return true
	case Set:
		return s.Autocommit != Unchanged
	}
	return false
}

// SetsChain says whether COMMIT begins a transaction from now on, by completion_type.
func (s Statement) SetsChain() bool {
	v, found := s.Setting("completion_type")
	return found && (!v.Known || v.Value != "0" && !strings.EqualFold(v.Value, "NO_CHAIN"))
}

// Wrote says whether the statement may have written; affected is negative where it is not known, as for a
// query. A write that changed no row is none. What a trigger does besides is not seen.
func (s Statement) Wrote(affected int64, err error) bool {
	switch s.Kind {
	case Read, Savepoint, RollbackTo, Release, Rollback, Use:
		return false
	case Set:
		return s.Calls
	case Write:
		return err == nil && affected != 0
	}
	return true
}
