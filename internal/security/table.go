package security

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Right is what one GRANT gives: a verb on a table, or on the whole database when there is no table.
type Right struct {
	Verb, Table string
	Only        string // the engine that asks for it, "" for both
}

// String is the right in the words of GRANT, without the database.
func (r Right) String() string {
	if r.Table == "" {
		return r.Verb + " on the database"
	}
	return r.Verb + " on " + r.Table
}

// Row is one line of the table: what it is about, and the rights in the words of the document.
type Row struct {
	Names []string
	Needs string
}

// Table is the table of grants of a document.
type Table []Row

// Words are what the phrases of the table stand for: the tables of "the plan" and of
// "the queue" depend on the plan.
type Words map[string][]Right

// On makes the meaning of a phrase that names tables. Its verb comes from the document.
func On(tables ...string) []Right {
	rights := make([]Right, len(tables))
	for i, table := range tables {
		rights[i].Table = table
	}
	return rights
}

var errTable = errors.New("security: the table of grants")

// Read reads the table below the heading "## Grants" of a Markdown document. Its lines have
// names in backquotes in the first column and rights in the second.
func Read(path string) (Table, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a document of this repository
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	var table Table
	within := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "## ") {
			within = line == "## Grants"
		}
		if !within || !strings.HasPrefix(line, "| `") { // a heading has no backquotes
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) < 2 {
			return nil, fmt.Errorf("%w: %q should have two cells", errTable, line)
		}
		row := Row{Needs: strings.TrimSpace(cells[1])}
		for i, name := range strings.Split(cells[0], "`") {
			if i%2 == 1 {
				row.Names = append(row.Names, name)
			}
		}
		table = append(table, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("%w: %s has none below the heading Grants", errTable, path)
	}
	return table, nil
}

// Rights are those of the row with that name, each once. Needs reads
//
//	SELECT, UPDATE on `table`, the plan; DELETE on `table` (MySQL); as `other row`; nothing
//
// with any number of these between semicolons. A phrase for tables must be among the words;
// a clause that is there as a whole stands for the rights of that word.
func (t Table) Rights(name string, words Words) ([]Right, error) {
	return t.rights(name, words, nil)
}

func (t Table) rights(name string, words Words, through []string) ([]Right, error) {
	at := slices.IndexFunc(t, func(r Row) bool { return slices.Contains(r.Names, name) })
	if at < 0 || slices.Contains(through, name) {
		return nil, fmt.Errorf("%w: no row is about %q, or it refers to itself", errTable, name)
	}
	var all []Right
	for _, clause := range strings.Split(t[at].Needs, "; ") {
		var more []Right
		var err error
		_, reference, found := strings.Cut(clause, "as `")
		if other := reference; found {
			more, err = t.rights(strings.TrimSuffix(other, "`"), words, append(through, name))
		} else {
			more, err = words.clause(clause)
		}
		if err != nil {
			return nil, fmt.Errorf("%w, in the row %q", err, name)
		}
		for _, r := range more {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func (w Words) clause(clause string) ([]Right, error) {
	if clause == "nothing" {
		return nil, nil
	}
	if whole, found := w[clause]; found {
		return whole, nil
	}
	clause, only := engine(clause)
	verbs, objects, found := strings.Cut(clause, " on ")
	if !found {
		return nil, fmt.Errorf("%w: %q is not understood", errTable, clause)
	}
	var rights []Right
	for _, object := range strings.Split(objects, ", ") {
		tables := On(strings.Trim(object, "`"))
		if !strings.HasPrefix(object, "`") {
			tables, found = w[object]
			if object == "the database" {
				tables, found = On(""), true
			}
			if !found {
				return nil, fmt.Errorf("%w: %q is not among the words", errTable, object)
			}
		}
		for _, on := range tables {
			for _, verb := range strings.Split(verbs, ", ") {
				rights = append(rights, Right{verb, on.Table, only})
			}
		}
	}
	return rights, nil
}

// engine takes the engine off a clause that is for one of them.
func engine(clause string) (rest, only string) {
	for _, name := range []string{"MySQL", "MariaDB"} {
		if rest, found := strings.CutSuffix(clause, " ("+name+")"); found {
			return rest, name
		}
	}
	return clause, ""
}
