package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// Proposal is an edge that names and types make likely, for a person to decide.
type Proposal struct {
	// Table is the table below, with its Key; Planned says that the plan has it already.
	Table   string
	Key     []string
	Planned bool
	Edge    Edge
	// Evidence is what speaks for it, and what is missing: in a line.
	Evidence []string

	sample string
}

// guess finds columns that look as if they refer to a table of the plan, or of another proposal: what hangs
// below those that a person accepts is proposed, too.
func (d *discovery) guess(p Plan, references []*reference) []Proposal {
	var list []Proposal
	planned, above := map[string]bool{}, []string{}
	for _, t := range p.Tables {
		planned[t.Name] = true
		if !t.Stays {
			above = append(above, t.Name)
		}
	}
	names := d.wordsOf()
	for i := 0; i < len(above); i++ {
		to := d.found.table(above[i])
		if len(to.primary()) != 1 {
			continue
		}
		for _, name := range d.tableNames() {
			t := d.found.table(name)
			if !t.isTable() || isToolkits(t.name) || t.primary() == nil {
				continue
			}
			for c := range t.columns {
				why := names.likely(t, &t.columns[c], to)
				if why == "" || d.refers(references, t, t.columns[c].name, to.name) || d.constrained(t.name, t.columns[c].name) {
					continue
				}
				list = append(list, propose(t, &t.columns[c], to, why, planned[t.name]))
				if !slices.Contains(above, t.name) && !planned[t.name] {
					above = append(above, t.name)
				}
			}
		}
	}
	return list
}

// constrained says whether the column is in a foreign key.
func (d *discovery) constrained(table, column string) bool {
	return slices.ContainsFunc(d.found.foreign, func(f foreignKey) bool { return f.table == table && containsFold(f.columns, column) })
}

func propose(t *foundTable, c *foundColumn, to *foundTable, why string, planned bool) Proposal {
	key := to.column(to.primary()[0])
	p := Proposal{Table: t.name, Key: t.spelled(t.primary()), Planned: planned, Edge: Edge{Table: to.name, Columns: []string{c.name}}, Evidence: []string{why}}
	if !strings.EqualFold(c.full, key.full) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("a %s refers to a %s", c.full, key.full))
	}
	if !slices.ContainsFunc(t.indexes, func(x foundIndex) bool {
		return !x.off && x.btree && len(x.columns) > 0 && x.columns[0] == strings.ToLower(c.name)
	}) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("no index: ALTER TABLE %s ADD KEY (%s)", Quote(t.name), Quote(c.name)))
	}
	p.sample = fmt.Sprintf(sqlSample, Quote(to.name), ident.Quote(key.name), ident.Quote(c.name), Quote(t.name), sampled)
	return p
}

// words are what the tables of a database are called, in the singular, without a prefix that most of them
// have.
type words struct {
	of    map[string][]string // by table
	keys  map[string]int      // how many tables have a primary key of that name
	tails map[string]int      // how many tables have this first word and this tail
}

// generic are names of keys that say nothing about the table.
var generic = []string{"id", "uuid", "guid", "key", "code", "name", "no", "nr", "oid", "pk", "rowid", "seq", "type"}

func (d *discovery) wordsOf() words {
	w := words{map[string][]string{}, map[string]int{}, map[string]int{}}
	prefix := d.prefix()
	for _, t := range d.found.tables {
		if key := t.primary(); len(key) == 1 {
			w.keys[strings.ToLower(key[0])]++
		}
		base := strings.ToLower(t.name)
		first, _, _ := strings.Cut(base, "_")
		for _, tail := range tails(base) {
			w.tails[first+"_"+tail]++
		}
		for _, word := range []string{base, strings.TrimPrefix(base, prefix)} {
			for _, form := range singular(word) {
				if !slices.Contains(w.of[t.name], form) {
					w.of[t.name] = append(w.of[t.name], form)
				}
			}
		}
	}
	return w
}

// prefix is what most names of tables begin with, up to a "_".
func (d *discovery) prefix() string {
	counts, tables := map[string]int{}, 0
	for _, name := range d.tableNames() {
		if isToolkits(name) {
			continue
		}
		tables++
		if before, _, found := strings.Cut(strings.ToLower(name), "_"); found {
			counts[before+"_"]++
		}
	}
	for prefix, n := range counts {
		if n > 2 && 2*n > tables {
			return prefix
		}
	}
	return ""
}

// singular is a word and what it may be the plural of.
func singular(word string) []string {
	forms := []string{word}
	if stem, found := strings.CutSuffix(word, "ies"); found {
		forms = append(forms, stem+"y")
	}
	if stem, found := strings.CutSuffix(word, "es"); found {
		forms = append(forms, stem)
	}
	if stem, found := strings.CutSuffix(word, "s"); found && !strings.HasSuffix(word, "ss") {
		forms = append(forms, stem)
	}
	return forms
}

// suffixes are what stands behind a table's name in a column that refers to it.
var suffixes = []string{"_id", "id", "_uuid", "_guid", "_key", "_no", "_nr", "_code", "_ref", "_fk"}

// likely says why a column looks as if it refers to a table's key, or nothing.
func (w words) likely(t *foundTable, c *foundColumn, to *foundTable) string {
	key := to.column(to.primary()[0])
	if key == nil || familyOf(c) != familyOf(key) {
		return ""
	}
	name, keyName := strings.ToLower(c.name), strings.ToLower(key.name)
	if t == to {
		parents := []string{"parent", "parent_id", "parentid", "parent_" + keyName, "parent" + keyName}
		if name != keyName && slices.Contains(parents, name) && (slices.Contains(generic, keyName) || w.named(t.name, keyName)) {
			return "it names a parent in the table itself"
		}
		return ""
	}
	own := len(t.primary()) == 1 && strings.EqualFold(t.primary()[0], c.name)
	best, by := "", ""
	for _, word := range w.between(t.name, to.name) {
		for _, ending := range append([]string{"_" + keyName, keyName}, suffixes...) {
			if full := word + ending; len(full) > len(best) && (name == full || strings.HasSuffix(name, "_"+full) && !own) {
				best, by = full, word
			}
		}
		if (name == "id_"+word || name == "fk_"+word || name == word && !own && strings.EqualFold(c.full, key.full)) && len(word) > len(best) {
			best, by = name, word
		}
	}
	if best != "" && !w.longer(t.name, name, best, to.name) {
		return fmt.Sprintf("its name says %s", by)
	}
	if name == keyName && familyOf(c) != "text" && !slices.Contains(generic, keyName) && slices.ContainsFunc(suffixes, func(ending string) bool { return strings.HasSuffix(keyName, ending) }) &&
		(w.keys[keyName] == 1 || !own && w.named(to.name, keyName)) {
		return "it is called as the key"
	}
	return ""
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
