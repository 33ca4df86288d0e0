package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/dict"
)

// suffixes are what stands behind a table's name in a column that refers to it.
var suffixes = []string{"_id", "id", "_uuid", "_guid", "_key", "_no", "_nr", "_code", "_ref", "_fk"}

// likely says why a column looks as if it refers to a table's key, or nothing.
func (w words) likely(t *dict.Table, c *dict.Column, to *dict.Table) string {
	key := to.Column(to.Primary()[0])
	if key == nil || c.Class() != key.Class() {
		return ""
	}
	name, keyName := strings.ToLower(c.Name), strings.ToLower(key.Name)
	if t == to {
		return w.itself(t, name, keyName)
	}
	own := len(t.Primary()) == 1 && strings.EqualFold(t.Primary()[0], c.Name)
	best, by := "", ""
	for _, word := range w.between(t.Name, to.Name) {
		for _, ending := range append([]string{"_" + keyName, keyName}, suffixes...) {
			if full := word + ending; len(full) > len(best) && (name == full || strings.HasSuffix(name, "_"+full) && !own) {
				best, by = full, word
			}
		}
		same := name == word || strings.Contains(word, "_") && strings.HasSuffix(name, "_"+word)
		if (name == "id_"+word || name == "fk_"+word || same && !own && strings.EqualFold(c.Full, key.Full)) && len(word) > len(best) {
			best, by = name, word
		}
	}
	if best != "" && !w.longer(t.Name, name, best, to.Name) {
		return fmt.Sprintf("its name says %s", by)
	}
	switch {
	case w.called(t, c, to, key):
		return "it is called as the key"
	case !own && w.role(name, keyName, to):
		return "its name begins with the key's"
	case !own && w.elsewhere(t.Name, name, keyName, to.Name):
		return "no other table's name ends so"
	}
	return ""
}

// itself says why a column refers to a row of the same table.
func (w words) itself(t *dict.Table, name, keyName string) string {
	named := w.named(t.Name, keyName)
	switch parents := []string{"parent", "parent_id", "parentid", "parent_" + keyName, "parent" + keyName}; {
	case name == keyName:
	case slices.Contains(parents, name) && (slices.Contains(generic, keyName) || named):
		return "it names a parent in the table itself"
	case named && strings.HasSuffix(name, "_"+keyName):
		return "its name ends with the table's own key"
	}
	return ""
}

// called says whether a column is called as the key of one table only, of which it says more than "id".
func (w words) called(t *dict.Table, c *dict.Column, to *dict.Table, key *dict.Column) bool {
	name, keyName := strings.ToLower(c.Name), strings.ToLower(key.Name)
	if name != keyName || c.Class() == "text" || slices.Contains(generic, keyName) {
		return false
	}
	own := len(t.Primary()) == 1 && strings.EqualFold(t.Primary()[0], c.Name)
	one := w.keys[keyName] == 1 || w.own[keyName] == 1 && !extends(to)
	if slices.ContainsFunc(suffixes, func(ending string) bool { return strings.HasSuffix(keyName, ending) }) {
		return one || !own && w.named(to.Name, keyName)
	}
	// A word like "state" is a key's where the table is one of states.
	says := strings.Contains(keyName, "_") || slices.ContainsFunc(w.of[to.Name], func(word string) bool { return strings.HasSuffix(word, "_"+keyName) })
	return one && !own && says && strings.EqualFold(c.Full, key.Full)
}

// extends says whether a table's rows are parts of another table's, with its key: user_options with the key
// user_id.
func extends(t *dict.Table) bool {
	key := t.Primary()
	if len(key) != 1 {
		return false
	}
	return slices.ContainsFunc(suffixes, func(ending string) bool {
		stem, found := strings.CutSuffix(strings.ToLower(key[0]), ending)
		return found && stem != "" && strings.HasPrefix(strings.ToLower(t.Name), stem+"_")
	})
}

// role says whether a column is called as the key and what the row above is to the row below: userid_from,
// nodeid2.
func (w words) role(name, keyName string, to *dict.Table) bool {
	after, found := strings.CutPrefix(name, keyName)
	if !found || after == "" || slices.Contains(generic, keyName) || w.own[keyName] != 1 || extends(to) ||
		!slices.ContainsFunc(suffixes, func(ending string) bool { return strings.HasSuffix(keyName, ending) }) {
		return false
	}
	return after[0] == '_' && len(after) > 1 || strings.Trim(after, "0123456789") == ""
}

// elsewhere says whether a column names a table of another part of the schema, whose first word several
// tables have, and of which no other table has the rest: label_id of app_label.
func (w words) elsewhere(from, column, keyName, to string) bool {
	if !slices.Contains(generic, keyName) && w.own[keyName] > 1 || w.named(to, keyName) {
		return false
	}
	first, rest, found := strings.Cut(strings.ToLower(to), "_")
	return found && w.first[first] > 2 && slices.ContainsFunc(singular(rest), func(word string) bool {
		return column == word+"_"+keyName && w.ends[word] == 1 && !w.longer(from, column, column, to)
	})
}

// byAnother finds a column of a table, other than its primary key, that is unique and that a column with an
// index looks as if it refers to: group_name of group.name.
func (w words) byAnother(t *dict.Table, c *dict.Column, to *dict.Table) (*dict.Column, string) {
	if t == to || !leads(t, c) {
		return nil, ""
	}
	for _, x := range to.Indexes {
		if !x.Unique || x.Off || len(x.Columns) != 1 || slices.Equal(x.Columns, to.Primary()) {
			continue
		}
		key := to.Column(x.Columns[0])
		if key == nil || key.Nullable || !strings.EqualFold(key.Full, c.Full) {
			continue
		}
		for _, word := range w.between(t.Name, to.Name) {
			if strings.EqualFold(c.Name, word+"_"+key.Name) && !w.longer(t.Name, strings.ToLower(c.Name), c.Name, to.Name) {
				return key, fmt.Sprintf("its name says %s and its unique %s", word, key.Name)
			}
		}
	}
	return nil, ""
}

// between are the words for a table as one of another table says them: without the first word of both, if
// that is the same, and without those that follow, if that names no other table with this first word.
func (w words) between(from, to string) []string {
	forms := slices.Clone(w.of[to])
	first, _, _ := strings.Cut(strings.ToLower(from), "_")
	for i, tail := range tails(to) {
		if strings.HasPrefix(strings.ToLower(to), first+"_") && (i == 0 || w.tails[first+"_"+tail] == 1) {
			forms = append(forms, singular(tail)...)
		}
	}
	for _, above := range w.of[from] { // host_status is the status of a host
		if rest, found := strings.CutPrefix(strings.ToLower(to), above+"_"); found {
			forms = append(forms, singular(rest)...)
		}
	}
	return forms
}

// tails are the names without the first word, without the first two, and so on.
func tails(table string) (list []string) {
	_, rest, found := strings.Cut(strings.ToLower(table), "_")
	for ; found; _, rest, found = strings.Cut(rest, "_") {
		list = append(list, rest)
	}
	return list
}

// longer says whether another table's name explains more of a column: user_agent_id is of user_agents, not of
// agents.
func (w words) longer(from, column, best, than string) bool {
	for table := range w.of {
		if table == than {
			continue
		}
		for _, word := range w.between(from, table) {
			for _, ending := range suffixes {
				if full := word + ending; len(full) > len(best) && (column == full || strings.HasSuffix(column, "_"+full)) {
					return true
				}
			}
		}
	}
	return false
}

// named says whether a key is called by its table: users.user_id, not user_options.user_id.
func (w words) named(table, key string) bool {
	return slices.ContainsFunc(w.of[table], func(word string) bool {
		return slices.ContainsFunc(suffixes, func(ending string) bool { return word+ending == key })
	})
}
