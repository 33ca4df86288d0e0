package main

import (
	"strings"

	"github.com/onerow/onerow/internal/schematest"
)

// soft is a reference that a schema has and does not declare, and how one knows.
type soft struct{ table, column, to, references, why string }

func (s soft) String() string {
	return reference(s.table, []string{s.column}, s.to, []string{s.references})
}

func (s soft) key() schematest.ForeignKey {
	return schematest.ForeignKey{Child: s.table, Parent: s.to, Columns: []string{s.column}, References: []string{s.references}}
}

// softly reads lines of "table.column → table.column: why".
func softly(text string) (list []soft) {
	for line := range strings.Lines(text) {
		ref, why, found := strings.Cut(strings.TrimSpace(line), ": ")
		from, to, also := strings.Cut(ref, " → ")
		if !found || !also {
			continue
		}
		s := soft{why: why}
		s.table, s.column, _ = strings.Cut(from, ".")
		s.to, s.references, _ = strings.Cut(to, ".")
		list = append(list, s)
	}
	return list
}

// undeclared are the references without a foreign key, by schema. That discover proposes something puts it on
// nobody's list: each has a reason of its own.
var undeclared = map[string][]soft{}
