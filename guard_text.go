package onerow

import "strings"

// verb is what a statement that is sent as text does to the transaction of its session.
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
)

// verbOf looks at the first words. A text of several statements is verbOther, whatever it begins with.
func verbOf(query string) verb {
	query = skipComments(query)
	word, rest := firstWord(query)
	v := verbOther
	switch {
	case strings.EqualFold(word, "BEGIN"):
		if next, _ := firstWord(rest); !strings.EqualFold(next, "NOT") { // MariaDB's compound statement
			v = verbBegin
		}
	case strings.EqualFold(word, "START"):
		if next, _ := firstWord(rest); strings.EqualFold(next, "TRANSACTION") {
			v = verbBegin
		}
	case strings.EqualFold(word, "COMMIT"):
		v = chained(rest, verbCommit)
	case strings.EqualFold(word, "ROLLBACK"):
		if v = verbUndo; !toSavepoint(rest) {
			v = chained(rest, verbRollback)
		}
	case strings.EqualFold(word, "SAVEPOINT"):
		v = verbSavepoint
	case strings.EqualFold(word, "RELEASE"):
		v = verbRelease
	case strings.EqualFold(word, "XA"):
		v = xa(rest)
	case strings.EqualFold(word, "SET"):
		v = autocommit(rest)
	}
	if v != verbOther {
		if _, more, several := strings.Cut(rest, ";"); several && strings.TrimSpace(more) != "" {
			return verbOther
		}
	}
	return v
}

// xa: the server itself refuses statements in a lost transaction of this kind, but only up to the first XA
// that it refuses.
func xa(rest string) verb {
	switch next, _ := firstWord(rest); strings.ToUpper(next) {
	case "START", "BEGIN":
		return verbBegin
	case "PREPARE", "COMMIT":
		return verbCommit
	case "ROLLBACK":
		return verbRollback
	case "END":
		return verbXAEnd
	}
	return verbOther
}

func toSavepoint(rest string) bool {
	next, rest := firstWord(rest)
	if strings.EqualFold(next, "WORK") {
		next, _ = firstWord(rest)
	}
	return strings.EqualFold(next, "TO")
}

// savepointName is the name in SAVEPOINT, ROLLBACK TO and RELEASE SAVEPOINT.
func savepointName(query string) string {
	rest := skipComments(query)
	for {
		word, after := firstWord(rest)
		switch strings.ToUpper(word) {
		case "ROLLBACK", "WORK", "TO", "RELEASE", "SAVEPOINT":
			if rest = skipComments(after); rest != "" && rest[0] != ';' {
				continue
			}
			return word // a savepoint may be called so
		}
		return strings.Trim(strings.TrimRight(rest, " \t\r\n;"), "`")
	}
}

// chained: COMMIT AND CHAIN begins the next transaction at once. ROLLBACK AND CHAIN is not among what a lost
// transaction takes, for something would be open behind it.
func chained(rest string, v verb) verb {
	text := strings.ToUpper(rest)
	switch {
	case !strings.Contains(text, "CHAIN"), strings.Contains(text, "NO CHAIN"):
		return v
	case v == verbCommit:
		return verbBegin
	}
	return verbOther
}

// autocommit reads an assignment of the session's variable.
func autocommit(rest string) verb {
	text := strings.ToLower(rest)
	before, after, found := strings.Cut(text, "autocommit")
	before = strings.TrimRight(before, " \t\r\n.`@")
	if !found || strings.HasSuffix(before, "global") || strings.HasSuffix(before, "persist") || strings.HasSuffix(before, "persist_only") {
		return verbOther
	}
	after = strings.TrimLeft(after, " \t\r\n:=`'\"")
	value := after[:len(after)-len(strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyz0123456789"))]
	switch value {
	case "1", "on", "true":
		return verbAuto
	case "0", "off", "false":
		return verbManual
	}
	return verbOther
}

// firstWord is the letters that text begins with, after white space, and what follows them.
func firstWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t\r\n")
	end := 0
	for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || text[end] == '_') {
		end++
	}
	return text[:end], text[end:]
}

// skipComments drops white space and comments in front of a statement; /*! is none, the server runs it.
func skipComments(query string) string {
	for {
		query = strings.TrimLeft(query, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(query, "/*") && !strings.HasPrefix(query, "/*!"):
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
