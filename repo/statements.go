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
	made map[[2]string]string // by the constant and what it was made with
}

func newStatements() *statements { return &statements{made: map[[2]string]string{}} }

// text is a statement of this resource: each {word} of the constant stands for what [untyped.words] says, and
// {lock} for nothing.
func (r *untyped) text(statement string) string { return r.locked(statement, "") }

// locked is text with a lock in the place of each {lock}.
func (r *untyped) locked(statement, lock string) string {
	return r.textOf(statement, lock, func() string { return r.expand(statement, lock) })
}

// textInUTC is text for a statement that writes or compares times: where the resource has a TIMESTAMP it runs
// in UTC, for MySQL copies one from table to table by what the session's zone reads, too.
func (r *untyped) textInUTC(statement string) string {
	return r.textOf(statement, "in UTC", func() string { return r.inUTC(r.text(statement)) })
}

func (r *untyped) inUTC(text string) string {
	if !slices.ContainsFunc(r.res.Columns, func(c schema.Column) bool { return typeWord(c.Type) == "timestamp" }) {
		return text
	}
	return ident.InUTC(text)
}

func (r *untyped) textOf(statement, with string, text func() string) string {
	key := [2]string{statement, with}
	r.statements.mu.RLock()
	made, found := r.statements.made[key]
	r.statements.mu.RUnlock()
	if !found {
		made = text()
		r.statements.mu.Lock()
		r.statements.made[key] = made
		r.statements.mu.Unlock()
	}
	return made
}

// expand puts words in the place of what is in braces.
func (r *untyped) expand(statement, lock string) string {
	var b strings.Builder
	for found := true; found; {
		var plain, word string
		plain, statement, found = strings.Cut(statement, "{")
		b.WriteString(plain)
		word, statement, _ = strings.Cut(statement, "}")
		switch word {
		case "lock":
			b.WriteString(lock)
		case "byID": // depends on the owner, see OwnedBy
			b.WriteString(r.byID())
		default:
			b.WriteString(r.words[word])
		}
	}
	return b.String()
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
	kept, named := r.copied()
	words := map[string]string{
		"active":      ident.Quote(r.res.Active),
		"archive":     ident.Quote(r.res.Archive),
		"id":          id,
		"fields":      r.fields.selectList(), // of T
		"keys":        quoted(keys),          // of the row, its owner and its parent
		"label":       label,
		"nameKey":     nameKey,
		"ownerIs":     r.ownerIs(),
		"inArchive":   "0", // whether the archive has the id of an active row
		"sameOwner":   r.sameOwner(),
		"shared":      quoted(r.res.Shared()),
		"kept":        kept,
		"named":       named,
		"insert":      quoted(r.insertColumns()),
		"inserted":    strings.TrimSuffix(strings.Repeat("?, ", len(r.insertColumns())), ", "),
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
	if r.res.Quota.Flag != "" {
		words["withinQuota"] = ident.Quote(r.res.Quota.Flag) + " = 0, "
	}
	return words
}

func quoted(columns []string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = ident.Quote(column)
	}
	return strings.Join(list, ", ")
}

func assigned(columns []string) string {
	var list strings.Builder
	for _, column := range columns {
		list.WriteString(ident.Quote(column) + " = ?, ")
	}
	return list.String()
}

// ownerIs is the condition on the owner, or "".
func (r *untyped) ownerIs() string {
	var conditions []string
	for _, column := range r.res.Owners() {
		conditions = append(conditions, ident.Quote(column)+" = ?")
	}
	return strings.Join(conditions, " AND ")
}

// nameColumns are the columns that a name is stored in.
func (r *untyped) nameColumns() []string {
	if !r.res.Named() {
		return nil
	}
	return []string{r.res.Label.Column, r.res.Label.Key, schema.ColStemKey, schema.ColCopyNo}
}

// ifJoined is the lock that a read needs in a caller's transaction, whose snapshot may be old.
func ifJoined(tx *onerow.Tx, lock string) string {
	if tx.Joined() {
		return lock
	}
	return ""
}
