package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Proposal is an edge that names and types make likely, for a person to decide.
type Proposal struct {
	// Table is the table below, with its Key; Planned says that the plan has it already.
	Table   string
	Key     []string
	Planned bool
	Edge    schema.Edge
	// Evidence is what speaks for it, and what is missing: in a line.
	Evidence []string

	sample string
}

// guess finds columns that look as if they refer to a table of the plan, or of another proposal: what hangs
// below those that a person accepts is proposed, too.
func (d *discovery) guess(p schema.Plan, references []*reference) []Proposal {
	var list []Proposal
	planned, stays, above := map[string]bool{}, map[string]bool{}, []string{}
	for _, n := range p.Nodes() {
		name := d.found.Table(n.Tables[0]).Name
		planned[name], stays[name] = true, n.Stays
		if !n.Stays {
			above = append(above, name)
		}
	}
	names := d.wordsOf()
	for i := 0; i < len(above); i++ {
		to := d.found.Table(above[i])
		if len(to.Primary()) != 1 {
			continue
		}
		for _, name := range d.tableNames() {
			t := d.found.Table(name)
			if n, known := d.known[name]; known && (n.Managed || n.Tables[0] != name) {
				continue // a person has said all of it
			}
			if !t.IsTable() || shape.IsToolkits(t.Name) || t.Primary() == nil {
				continue
			}
			for c := range t.Columns {
				key, why := to.Column(to.Primary()[0]), names.likely(t, &t.Columns[c], to)
				if why == "" {
					key, why = names.byAnother(t, &t.Columns[c], to)
				}
				if why == "" || d.refers(references, t, t.Columns[c].Name, to.Name) || d.constrained(t.Name, t.Columns[c].Name) {
					continue
				}
				found := propose(t, &t.Columns[c], to, key, why, planned[t.Name])
				if planned[t.Name] && stays[t.Name] {
					found.Edge.OnDelete = schema.OnDeleteKeep
					if t.Columns[c].Nullable && !slices.Contains(t.Primary(), strings.ToLower(t.Columns[c].Name)) {
						found.Edge.OnDelete = schema.OnDeleteDetach
					}
					found.Evidence = append(found.Evidence, "its rows stay, as the plan says")
				}
				found.Table, found.Edge.Table = d.nameInPlan(found.Table), d.nameInPlan(found.Edge.Table)
				list = append(list, found)
				if !slices.Contains(above, t.Name) && !planned[t.Name] {
					above = append(above, t.Name)
				}
			}
		}
	}
	return list
}

// constrained says whether the column is in a foreign key.
func (d *discovery) constrained(table, column string) bool {
	return slices.ContainsFunc(d.found.Foreign, func(f dict.ForeignKey) bool { return f.Table == table && colset.Has(f.Columns, column) })
}

func propose(t *dict.Table, c *dict.Column, to *dict.Table, key *dict.Column, why string, planned bool) Proposal {
	p := Proposal{Table: t.Name, Key: t.Spelled(t.Primary()), Planned: planned, Edge: schema.Edge{Table: to.Name, Columns: []string{c.Name}}, Evidence: []string{why}}
	if !strings.EqualFold(key.Name, to.Primary()[0]) {
		p.Edge.References = []string{key.Name}
	}
	if !strings.EqualFold(c.Full, key.Full) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("a %s refers to a %s", c.Full, key.Full))
	}
	if !leads(t, c) {
		p.Evidence = append(p.Evidence, fmt.Sprintf("no index: ALTER TABLE %s ADD KEY (%s)", ident.Quote(t.Name), ident.Quote(c.Name)))
	}
	p.sample = fmt.Sprintf(sqlSample, ident.Quote(to.Name), ident.Quote(key.Name), ident.Quote(c.Name), ident.Quote(t.Name), sampled)
	return p
}

// leads says whether the column is the first one of an index.
func leads(t *dict.Table, c *dict.Column) bool {
	return slices.ContainsFunc(t.Indexes, func(x dict.Index) bool {
		return !x.Off && x.Btree && len(x.Columns) > 0 && x.Columns[0] == strings.ToLower(c.Name)
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
}

// generic are names of keys that say nothing about the table.
var generic = []string{"id", "uuid", "guid", "key", "code", "name", "no", "nr", "oid", "pk", "rowid", "seq", "type"}

func (d *discovery) wordsOf() words {
	w := words{map[string][]string{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	prefix := d.prefix()
	for _, t := range d.found.Tables {
		if key := t.Primary(); len(key) == 1 {
			w.keys[strings.ToLower(key[0])]++
			if !extends(t) {
				w.own[strings.ToLower(key[0])]++
			}
		}
		base := strings.ToLower(t.Name)
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
		for _, word := range []string{base, strings.TrimPrefix(base, prefix)} {
			for _, form := range singular(word) {
				if !slices.Contains(w.of[t.Name], form) {
					w.of[t.Name] = append(w.of[t.Name], form)
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
		if shape.IsToolkits(name) {
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
