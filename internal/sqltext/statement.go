package sqltext

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

// The kinds of statements. XA START is a Begin, XA PREPARE and XA COMMIT are a Commit, XA ROLLBACK is a
// Rollback.
const (
	Unclear Kind = "" // not understood: anything

	Begin      Kind = "Begin"      // BEGIN, START TRANSACTION: commits what is open
	Commit     Kind = "Commit"     // COMMIT, see Chain and Quits
	Rollback   Kind = "Rollback"   // ROLLBACK, all of it, see Chain and Quits
	XAEnd      Kind = "XAEnd"      // what MySQL wants before XA ROLLBACK
	Savepoint  Kind = "Savepoint"  // SAVEPOINT name
	RollbackTo Kind = "RollbackTo" // ROLLBACK TO name
	Release    Kind = "Release"    // RELEASE SAVEPOINT name

	// SET autocommit; a value that the text does not show is Unclear.
	AutocommitOn  Kind = "AutocommitOn"  // commits what is open if it was off; if it was on, nothing happens
	AutocommitOff Kind = "AutocommitOff" // every statement is in a transaction from now on

	Set            Kind = "Set"            // of other variables
	Use            Kind = "Use"            // USE name
	Read           Kind = "Read"           // writes nothing
	Write          Kind = "Write"          // writes, or calls what may
	Temporary      Kind = "Temporary"      // creates or drops a temporary table, which ends no transaction
	ImplicitCommit Kind = "ImplicitCommit" // DDL and whatever else ends an open transaction by itself, even if it then fails
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
	// SetsChain: COMMIT begins a transaction from now on, by completion_type.
	SetsChain bool
	// Quits: COMMIT or ROLLBACK closes the session (RELEASE).
	Quits bool
	// Locks: the session may hold locks of tables from now on, whatever becomes of its transaction.
	Locks bool
	// SetsMode: the server may read further texts of the session in another way, by sql_mode or a character
	// set.
	SetsMode bool
}

// EndsTx says whether the statement ends the transaction that it is run in.
func (s Statement) EndsTx() bool {
	switch s.Kind {
	case Begin, Commit, Rollback, XAEnd, ImplicitCommit, AutocommitOn, AutocommitOff:
		return true
	}
	return false
}

// Wrote says whether the statement may have written; result is nil for a query. A write that changed no row
// is none. What a trigger does besides is not seen.
func (s Statement) Wrote(result interface{ RowsAffected() (int64, error) }, err error) bool {
	switch s.Kind {
	case Read, Savepoint, RollbackTo, Release, Rollback, Use:
		return false
	case Set, AutocommitOn, AutocommitOff:
		return s.Calls
	case Write:
		if err != nil || result == nil {
			return err == nil
		}
		n, unknown := result.RowsAffected()
		return n != 0 || unknown != nil
	}
	return true
}
