package sqltext

import (
	"slices"
	"strings"
)

// Charset says what bytes above 0x7F are in a text: character_set_client.
type Charset bool

const (
	// UTF8 is utf8mb4 or utf8mb3.
	UTF8 Charset = true
	// OtherCharset is not known, or may have characters with a quote or a backslash for their second byte, as
	// gbk, gb18030, big5, sjis and cp932 have: only texts of ASCII are understood.
	OtherCharset Charset = false
)

// Kind is what a text does to its session.
type Kind string

// The kinds of statements.
const (
	Unclear Kind = "" // not understood: anything

	Begin      Kind = "Begin"      // BEGIN, START TRANSACTION: commits what is open
	Commit     Kind = "Commit"     // COMMIT, see Chain and Quits
	Rollback   Kind = "Rollback"   // ROLLBACK, all of it, see Chain and Quits
	Savepoint  Kind = "Savepoint"  // SAVEPOINT name
	RollbackTo Kind = "RollbackTo" // ROLLBACK TO name
	Release    Kind = "Release"    // RELEASE SAVEPOINT name

	XABegin    Kind = "XABegin"    // XA START
	XAEnd      Kind = "XAEnd"      // XA END
	XAPrepare  Kind = "XAPrepare"  // XA PREPARE
	XACommit   Kind = "XACommit"   // XA COMMIT
	XARollback Kind = "XARollback" // XA ROLLBACK

	Set       Kind = "Set"       // of variables: see Autocommit and Sets
	Use       Kind = "Use"       // USE name
	Read      Kind = "Read"      // writes nothing
	Write     Kind = "Write"     // writes, or calls what may
	Temporary Kind = "Temporary" // creates or drops a temporary table, which ends no transaction
	Commits   Kind = "Commits"   // DDL and whatever else ends an open transaction by itself, even if it then fails
)

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
	// Travels says that it is one statement that may be sent in one packet with others: SELECT, INSERT,
	// UPDATE, DELETE, REPLACE, WITH, VALUES or TABLE, into no file and no variable, without a semicolon
	// outside of quotes and comments, and with nothing behind it that runs on. Where the server would see
	// more, or less, than a text shows, it may not: executable comments, NUL, a comment at the end that does
	// not end. Nor where a driver that puts arguments into the text could put them elsewhere: with a question
	// mark in quotes or in a comment, or in one piece with a word.
	Travels bool
	// Differs says that a driver that puts arguments into the text may make another one of it than the server
	// that is given them: a = 7? becomes a = 73, and ? 'name' one string.
	Differs bool
	// Calls says that something is called that is no built-in function of both servers: it may write, but not
	// commit. A SELECT with it is a Write.
	Calls bool
	// Chain: COMMIT or ROLLBACK begins the next transaction at once. NoChain says that it does not, whatever
	// completion_type says.
	Chain, NoChain bool
	// Quits: COMMIT or ROLLBACK closes the session (RELEASE).
	Quits bool
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

// ChangesMode says whether the server may read further texts of the session in another way.
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
	for _, v := range slices.Backward(s.Sets) {
		if v.Name == name && !v.Global {
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
