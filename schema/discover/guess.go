package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/naming"
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
	planned, stays, above := map[string]bool{}, map[string]bool{}, []string{}
	for _, n := range p.Nodes() {
		name := d.found.table(n.Tables[0]).name
		planned[name], stays[name] = true, n.Stays
		if !n.Stays {
			above = append(above, name)
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
			if n, known := d.known[name]; known && (n.Managed || n.Tables[0] != name) {
				continue // a person has said all of it
			}
			if !t.isTable() || naming.IsToolkits(t.name) || t.primary() == nil {
				continue
			}
			for c := range t.columns {
				key, why := to.column(to.primary()[0]), names.likely(t, &t.columns[c], to)
				if why == "" {
					key, why = names.byAnother(t, &t.columns[c], to)
				}
				if why == "" || d.refers(references, t, t.columns[c].name, to.name) || d.constrained(t.name, t.columns[c].name) {
					continue
				}
				found := propose(t, &t.columns[c], to, key, why, planned[t.name])
				if planned[t.name] && stays[t.name] {
					found.Edge.OnDelete = OnDeleteKeep
					if t.columns[c].nullable && !slices.Contains(t.primary(), strings.ToLower(t.columns[c].name)) {
						found.Edge.OnDelete = OnDeleteDetach
					}
					found.Evidence = append(found.Evidence, "its rows stay, as the plan says")
				}
				found.Table, found.Edge.Table = d.called(found.Table), d.called(found.Edge.Table)
				list = append(list, found)
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
	return slices.ContainsFunc(d.found.foreign, func(f foreignKey) bool { return f.table == table && colset.Has(f.columns, column) })
}

func propose(t *foundTable, c *foundColumn, to *foundTable, key *foundColumn, why string, planned bool) Proposal {
	p := Proposal{Table: t.name, Key: t.spelled(t.primary()), Planned: planned, Edge: Edge{Table: to.name, Columns: []string{c.name}}, Evidence: []string{why}}
	if !strings.EqualFold(key.name, to.primary()[0]) {
		p.Edge.References = []string{key.name}
	}
	if !strings.EqualFold(c.full, key.full) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("a %s refers to a %s", c.full, key.full))
	}
	if !leads(t, c) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("no index: ALTER TABLE %s ADD KEY (%s)", Quote(t.name), Quote(c.name)))
	}
	p.sample = fmt.Sprintf(sqlSample, Quote(to.name), ident.Quote(key.name), ident.Quote(c.name), Quote(t.name), sampled)
	return p
}

// leads says whether the column is the first one of an index.
func leads(t *foundTable, c *foundColumn) bool {
	return slices.ContainsFunc(t.indexes, func(x foundIndex) bool {
		return !x.off && x.btree && len(x.columns) > 0 && x.columns[0] == strings.ToLower(c.name)
	})
}

// words are what the tables of a database are called, in the singular, without a prefix that most of them
// have.
type words struct {
	of    map[string][]string // by table
	keys  map[string]int      // how many tables have a primary key of that name
	own   map[string]int      // of those, how many are not an extension of another table: see extends
	tails map[string]int      // how many tables have this first word and this tail
	ends  map[string]int      // how many tables have this tail, or are called so
	first map[string]int      // how many tables have this first word
	heads map[string]bool     // what tables are called, without a prefix that most of them have, in the plural, too
}

// generic are names of keys that say nothing about the table.
var generic = []string{"id", "uuid", "guid", "key", "code", "name", "no", "nr", "oid", "pk", "rowid", "seq", "type"}

func (d *discovery) wordsOf() words {
	w := words{map[string][]string{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}}
	prefix := d.prefix()
	for _, t := range d.found.tables {
		if key := t.primary(); len(key) == 1 {
			w.keys[strings.ToLower(key[0])]++
			if !extends(t) {
				w.own[strings.ToLower(key[0])]++
			}
		}
		base := strings.ToLower(t.name)
		first, _, _ := strings.Cut(base, "_")
		w.first[first]++
		for _, tail := range tails(base) {
			w.tails[first+"_"+tail]++
		}
		for _, end := range append(tails(base), base) {
			for _, form := range singular(end) {
				w.ends[form]++
			}
		}
		w.heads[strings.TrimPrefix(base, prefix)] = true
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
		if naming.IsToolkits(name) {
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
