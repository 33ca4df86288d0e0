package crashtest

import (
	"fmt"
	"strings"
)

// Kind says what an execution does to its session.
type Kind string

// The kinds of executions. BEGIN, COMMIT and ROLLBACK are recognised both when database/sql asks for them
// (BeginTx, Tx.Commit, Tx.Rollback) and when they are sent as text.
const (
	Begin    Kind = "begin"
	Commit   Kind = "commit"
	Rollback Kind = "rollback"
	Exec     Kind = "exec"
	Query    Kind = "query"
)

// Statement is one execution in a session: what costs a round trip and what can fail. A Prepare is none, the
// execution of what was prepared is one.
type Statement struct {
	// Session numbers the connections of the connector in the order in which they were opened, from 1.
	Session int
	Kind    Kind
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
	c.Reset()
	err := call()
	return c.Statements(), err
}

// split finds out whether a text of several statements begins a transaction first, and the text without the
// COMMIT at its end, empty if it has none.
func split(query string) (begins bool, uncommitted string) {
	head, rest, several := strings.Cut(query, ";")
	if !several || strings.TrimSpace(rest) == "" {
		return false, ""
	}
	kind, _ := classify(head, Exec)
	if at := strings.LastIndex(query, ";"); strings.EqualFold(strings.TrimSpace(query[at+1:]), "COMMIT") {
		uncommitted = query[:at]
	}
	return kind == Begin, uncommitted
}

// classify finds the kind of a statement sent as text, and whether it ends an open transaction by itself, as
// DDL does. It looks at the first words only: a packet of several statements is what its way in says
// (fallback), see split.
func classify(query string, fallback Kind) (kind Kind, endsTx bool) {
	text := skipComments(query)
	if head, rest, several := strings.Cut(text, ";"); several {
		if strings.TrimSpace(rest) != "" {
			return fallback, false
		}
		text = head
	}
	words := strings.Fields(strings.ToUpper(text))
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch word(0) {
	case "BEGIN":
		if word(1) == "NOT" { // MariaDB's compound statement outside a procedure
			return fallback, false
		}
		return Begin, false
	case "START":
		if strings.TrimSuffix(word(1), ",") == "TRANSACTION" {
			return Begin, false
		}
	case "COMMIT":
		return Commit, false
	case "ROLLBACK":
		if word(1) == "TO" || word(1) == "WORK" && word(2) == "TO" {
			return fallback, false
		}
		return Rollback, false
	case "CREATE", "DROP":
		return fallback, word(1) != "TEMPORARY"
	case "ALTER", "RENAME", "TRUNCATE":
		return fallback, true
	}
	return fallback, false
}

// skipComments drops leading white space and comments. An unclosed comment leaves nothing.
func skipComments(query string) string {
	for {
		query = strings.TrimLeft(query, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(query, "/*!"): // executed by the server: not a comment
			return query
		case strings.HasPrefix(query, "/*"):
			end = "*/"
		case strings.HasPrefix(query, "-- "), strings.HasPrefix(query, "#"):
			end = "\n"
		default:
			return query
		}
		_, rest, found := strings.Cut(query, end)
		if !found {
			return ""
		}
		query = rest
	}
}

// oneLine collapses white space and cuts the text to a number of characters.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
