package crashtest

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/sqltext"
)

type kind string

// The kinds of executions. BEGIN, COMMIT and ROLLBACK are recognised both when database/sql asks for them
// (BeginTx, Tx.Commit, Tx.Rollback) and when they are sent as text.
const (
	kindBegin    kind = "begin"
	kindCommit   kind = "commit"
	kindRollback kind = "rollback"
	kindExec     kind = "exec"
	kindQuery    kind = "query"
)

// Statement is one execution in a session: what costs a round trip and what can fail. A Prepare is none, the
// execution of what was prepared is one.
type Statement struct {
	// Session numbers the connections of the connector in the order in which they were opened, from 1.
	Session int
	// Kind is begin, commit, rollback, exec or query.
	Kind kind
	// SQL is the text as it was given to database/sql: placeholders, never arguments. For BeginTx it is START
	// TRANSACTION (with an isolation level the driver sends a SET before it, which is not counted).
	SQL string
	// InTx is true when the session was in a transaction when the statement came.
	InTx bool
	// Begins is true for several statements in one packet that begin a transaction, whose kind is that of the
	// rest: Commit, if it ends with COMMIT.
	Begins bool
	// Prepared is true when a server-side prepared statement was executed.
	Prepared bool
}

// String is the statement on one line: session, then the text with its white space collapsed.
func (s Statement) String() string {
	return fmt.Sprintf("session %d: %s", s.Session, oneLine(s.SQL, 160))
}

// Log is a list of statements in the order in which they were started.
type Log []Statement

// String shows one numbered statement a line, for messages of tests.
func (l Log) String() string {
	var b strings.Builder
	for i, s := range l {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, s)
	}
	return b.String()
}

// renumbered is the log with sessions numbered by order of appearance, so that the logs of two runs can be
// compared.
func (l Log) renumbered() Log {
	seen := map[int]int{}
	out := make(Log, len(l))
	for i, s := range l {
		if seen[s.Session] == 0 {
			seen[s.Session] = len(seen) + 1
		}
		s.Session = seen[s.Session]
		out[i] = s
	}
	return out
}

// Count runs call and returns the statements that were executed through the connector meanwhile, whether call
// failed or not, with the error of call. Statements that other goroutines send through the same connector are
// counted too.
func Count(c *Connector, call func() error) (Log, error) {
	c.intercept(nil)
	err := call()
	return c.statements(), err
}

// split finds out whether a text of several statements begins a transaction first, and the text without the
// COMMIT at its end, empty if it has none.
func split(query string) (begins bool, uncommitted string) {
	if !strings.Contains(query, ";") {
		return false, ""
	}
	parts, ok := sqltext.Split(query, sqltext.UTF8)
	if !ok || len(parts) < 2 {
		return false, ""
	}
	last := len(parts) - 1
	if end := sqltext.Classify(parts[last], sqltext.UTF8); end.Kind == sqltext.Commit && !end.Chain {
		uncommitted = strings.Join(parts[:last], ";")
	}
	return sqltext.Classify(parts[0], sqltext.UTF8).Kind == sqltext.Begin, uncommitted
}

// after is what a statement leaves of a transaction.
type after int8

const (
	asBefore after = iota
	open
	closed
)

// classify finds the kind of a statement sent as text, and what it leaves: DDL, too, ends a transaction. A
// packet of several statements is what its way in says (fallback), see split.
func classify(query string, fallback kind) (kind, after) {
	s := sqltext.Classify(query, sqltext.UTF8)
	left := closed
	if s.Chain {
		left = open
	}
	switch s.Kind {
	case sqltext.Begin:
		return kindBegin, open
	case sqltext.Commit:
		return kindCommit, left
	case sqltext.Rollback:
		return kindRollback, left
	case sqltext.ImplicitCommit:
		return fallback, closed
	}
	return fallback, asBefore
}

// oneLine collapses white space and cuts the text to a number of characters.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// beside says which write is sent while another session's transaction is open: the first one, or nothing.
// Where a workflow does not survive a fault that is often why.
func (l Log) beside() string {
	open := map[int]int{} // of sessions, the statement that began
	for i, s := range l {
		for session, began := range open {
			if session != s.Session && !s.InTx && (s.Kind == kindExec || s.Kind == kindBegin || s.Begins) {
				return fmt.Sprintf("statement %d (%s) is beside the transaction that session %d began with statement %d: a rollback does not take it back",
					i+1, s, session, began)
			}
		}
		switch {
		case s.Kind == kindCommit, s.Kind == kindRollback:
			delete(open, s.Session)
		case s.Kind == kindBegin, s.Begins:
			open[s.Session] = i + 1
		}
	}
	return ""
}
