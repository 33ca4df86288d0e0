// Package ddl holds the toolkit's own tables, onerow_*, as numbered goose migrations, and reads their CREATE
// TABLE statements: package migrations runs them, live.Verify holds a database against them.
//
// Open this package when a column or an index is added to one of the toolkit's tables.
package ddl

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FS holds the migrations: NNNNN_topic.sql.
//
//go:embed *.sql
var FS embed.FS

// Table is a table as its migration makes it.
type Table struct {
	Name    string
	SQL     string // its CREATE TABLE IF NOT EXISTS
	Columns []Column
	Indexes []Index
}

// Column is a column and its type as the migration says it: "BIGINT NOT NULL DEFAULT 0".
type Column struct{ Name, Type string }

// Index is an index; the primary key has no name.
type Index struct {
	Name    string
	Columns []string
	Unique  bool
}

// Tables returns the toolkit's tables in the order of their migrations, as their CREATE TABLE statements make
// them: it reads no other statement, so the first migration that alters a table has to teach it ALTER TABLE.
var Tables = sync.OnceValue(func() (all []Table) {
	files, err := FS.ReadDir(".")
	if err != nil {
		panic(err) // it is in the binary
	}
	for _, file := range files {
		text, err := FS.ReadFile(file.Name())
		if err != nil {
			panic(err)
		}
		for _, match := range create.FindAllStringSubmatch(string(text), -1) {
			made := parse(match[1], match[2])
			made.SQL = match[0]
			all = append(all, made)
		}
	}
	return all
})

var (
	create = regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS (\w+) \(\n(.*?)\n\) ENGINE[^;]*`)
	index  = regexp.MustCompile(`^(PRIMARY |UNIQUE )?KEY (\w+ )?\((.*)\)$`)
)

// parse reads the lines between the parentheses of a CREATE TABLE, one for each column and each index.
func parse(name, body string) Table {
	t := Table{Name: name}
	for line := range strings.Lines(body) {
		line = strings.Join(strings.Fields(strings.TrimRight(line, ",\n")), " ")
		if found := index.FindStringSubmatch(line); found != nil {
			t.Indexes = append(t.Indexes, Index{strings.TrimSpace(found[2]), strings.Split(found[3], ", "), found[1] != ""})
			continue
		}
		column, kind, _ := strings.Cut(line, " ")
		t.Columns = append(t.Columns, Column{column, kind})
	}
	return t
}

// Has says whether the table is one of the toolkit's.
func Has(table string) bool {
	return slices.ContainsFunc(Tables(), func(t Table) bool { return t.Name == table })
}
