package repo

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// The locks that a read may take in the place of its {lock}.
const (
	shared    = " LOCK IN SHARE MODE"
	exclusive = " FOR UPDATE"
)

// statements are the texts of a repository, each made once from the constant beside its verb.
type statements struct {
	mu   sync.RWMutex
	made map[statement]string
}

// statement is a constant, with the lock that it takes, the state whose table it is for, and whether it
// copies values as they are, whatever the session's sql_mode.
type statement struct {
	text, lock string
	state      schema.State
	exactly    bool
}

func newStatements() *statements { return &statements{made: map[statement]string{}} }

// text is a statement of this resource: each {word} of the constant stands for what [untyped.vocabulary]
// says, and {lock} for nothing. One that begins with {inUTC} writes or compares times: where the resource has
// a TIMESTAMP it runs in UTC, for MySQL copies one from table to table by what the session's zone reads, too.
func (r *untyped) text(text string) string { return r.textOf(statement{text: text}) }

// locked is text with a lock in the place of each {lock}.
func (r *untyped) locked(text, lock string) string {
	return r.textOf(statement{text: text, lock: lock})
}

// copyText is text that copies the row of an id to its other table. Where the id is 0, AUTO_INCREMENT would
// put a new one in its place; of an odd row a session refuses a date, or writes another one.
func (r *untyped) copyText(text string, id any, odd bool) string {
	return r.textOf(statement{text: text, exactly: id == any(int64(0)) || odd})
}

// of are the columns of one of the types.
func (r *untyped) of(types ...string) (columns []string) {
	for _, c := range r.res.Columns {
		if slices.Contains(types, typeWord(c.Type)) {
			columns = append(columns, ident.Quote(c.Name))
		}
	}
	return columns
}

// textIn is text for the {table} of a {state}, of which {shown} are the rows that no deletion hides.
func (r *untyped) textIn(state schema.State, text string) string {
	return r.textOf(statement{text: text, state: state})
}

func (r *untyped) textOf(s statement) string {
	r.statements.mu.RLock()
	text, made := r.statements.made[s]
	r.statements.mu.RUnlock()
	if !made {
		text = r.expand(s)
		r.statements.mu.Lock()
		r.statements.made[s] = text
		r.statements.mu.Unlock()
	}
	return text
}

// expand puts words in the place of what is in braces.
func (r *untyped) expand(s statement) string {
	text, utc := strings.CutPrefix(s.text, "{inUTC}")
	words := map[string]string{"lock": s.lock, "byID": r.byID(), "state": string(schema.Active), "table": r.words["active"]}
	if s.state == schema.Archived {
		words["state"], words["table"], words["shown"] = string(schema.Archived), r.words["archive"], shown
	}
	var b strings.Builder
	for found := true; found; {
		var plain, word string
		plain, text, found = strings.Cut(text, "{")
		word, text, _ = strings.Cut(text, "}")
		b.WriteString(plain + words[word] + r.words[word])
	}
	switch {
	case s.exactly:
		return ident.Exactly(b.String())
	case utc:
		return r.inUTC(b.String())
	}
	return b.String()
}

func (r *untyped) inUTC(text string) string {
	if len(r.of("timestamp")) == 0 {
		return text
	}
	return ident.InUTC(text)
}

// vocabulary is what the words of a statement stand for, as far as the declaration and T tell. A list of
// assignments ends with a comma; it may be empty.
func (r *untyped) vocabulary() map[string]string {
	id, label, nameKey := ident.Quote(r.res.ID), "''", "''"
	if r.res.Named() {
		label, nameKey = ident.Quote(r.res.Label.Column), ident.Quote(r.res.Label.Key)
	}
	keys := append([]string{r.res.ID}, r.res.Owners()...)
	if r.res.Parent.Column != "" {
		keys = append(keys, r.res.Parent.Column)
	}
	kept, named := r.copiedValues()
	words := map[string]string{
		"active":      ident.Quote(r.res.Active),
		"archive":     ident.Quote(r.res.Archive),
		"id":          id,
		"fields":      r.fields.selectList(), // of T
		"keys":        ident.Quotes(keys...), // of the row, its owner and its parent
		"label":       label,
		"nameKey":     nameKey,
		"ownerIs":     conditions(r.res.Owners()),
		"inArchive":   "0", // whether the archive has the id of an active row
		"odd":         "0", // whether a date of the row is none, such as 0000-00-00 and 2026-02-31
		"shared":      ident.Quotes(r.res.Shared()...),
		"kept":        kept,
		"named":       named,
		"insert":      listed(ident.Quotes(r.insertColumns()...)),
		"inserted":    listed(ident.Params(len(r.insertColumns()))),
		"setUpdate":   assigned(r.updateColumns()),
		"setHome":     assigned(r.home),
		"setName":     assigned(r.nameColumns()),
		"setParent":   assigned([]string{r.res.Parent.Column}),
		"maxCopy":     strconv.Itoa(names.MaxCopy),
		"withinQuota": "",
		"touch":       "version = version + 1, updated_at = UTC_TIMESTAMP(6)",
	}
	if r.res.Archive != "" {
		words["inArchive"] = "EXISTS (SELECT 1 FROM " + words["archive"] + " AS twin WHERE twin." + id + " = " + words["active"] + "." + id + ")"
	}
	for _, column := range r.res.Owners() { // of an archived row and an active one, AS other
		words["sameOwner"] += "other." + ident.Quote(column) + " = " + words["archive"] + "." + ident.Quote(column) + " AND "
	}
	for _, column := range r.of("date", "datetime", "timestamp") {
		words["odd"] += " OR " + column + " IS NOT NULL AND COALESCE(DAYOFMONTH(" + column + ") BETWEEN 1 AND DAYOFMONTH(LAST_DAY(" + column + ")), 0) = 0"
	}
	if r.res.Quota.Flag != "" {
		words["withinQuota"] = ident.Quote(r.res.Quota.Flag) + " = 0, "
	}
	return words
}

// assigned is a list of assignments, each with a comma after it.
func assigned(columns []string) string {
	var list strings.Builder
	for _, column := range columns {
		list.WriteString(ident.Quote(column) + " = ?, ")
	}
	return list.String()
}

// conditions is the condition that columns have given values, or "".
func conditions(columns []string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = ident.Quote(column) + " = ?"
	}
	return strings.Join(list, " AND ")
}

// nameColumns are the columns that a name is stored in.
func (r *untyped) nameColumns() []string {
	if !r.res.Named() {
		return nil
	}
	return []string{r.res.Label.Column, r.res.Label.Key, ident.ColStemKey, ident.ColCopyNo}
}

// ifJoined is the lock that a read needs in a caller's transaction, whose snapshot may be old.
func ifJoined(tx *onerow.Tx, lock string) string {
	if tx.Joined() {
		return lock
	}
	return ""
}

// listed is a list behind others; a resource may have no column but its id.
func listed(list string) string {
	if list == "" {
		return ""
	}
	return ", " + list
}
