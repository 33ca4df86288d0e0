package featurefuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
)

// Columns that every table has under these names. The number tells its rows apart.
const (
	colNumber  = "n"
	colRoot    = "of_root" // the number of the root; -1: below none
	colTouched = "touched" // what triggers write, and what they go by
)

// column is one of a table.
type column struct {
	name, typ string
	read      string // see kind
	value     func(r *rand.Rand) string
	computed  bool
}

// part is a column of a key, or of a reference.
type part struct {
	name, typ string // with its collation
	kind      keyKind
	charset   string
}

// table is one of a world.
type table struct {
	name, archive string // the archive is a resource's
	key, edge     []part
	parent        *table
	detach        bool
	rule, foreign string // of the foreign key, and its name; "" there is none
	data          []*column
	base          string   // of which the key, or the reference, is computed; ""
	fills         bool     // it has a column as wide as the server takes
	lines         []string // more of CREATE TABLE
	options       string
	engine        string
	accepted      []string // triggers
	rows          []*row
}

// world is the schema of a round.
type world struct {
	r          *rand.Rand
	engine     string
	collations []collation
	has        map[string]bool
	count      int            // of tables
	at         map[string]int // the table that has it, where only one has
	names      int
	tables     []*table // those above first
	plan       schema.Plan
	value      string // the kind of values that the round has for sure, or ""
	triggers   []trigger
	views      []string // on each table, in their order
	hidden     []string // tables of the plan that are views
	made       []string // tables beside those of the plan
}

// is says whether the table, as number i, is the one that has the feature.
func (w *world) is(feature string, i int) bool { return w.has[feature] && w.at[feature] == i }

// some is a name in the way of the round.
func (w *world) some(base string) string {
	w.names++
	name := fmt.Sprintf("%s%d", base, w.names)
	switch {
	case w.has[ofLongNames]:
		return name + strings.Repeat("Ж", 63-len(name)) + "x"
	case w.has[ofOddNames]:
		return []string{"select ", "a.b/", `it's "`, `\`, "%s?:", "-- ", "c", "k", " ", "0", "1e"}[w.r.IntN(11)] + name
	}
	return name
}

// tableName is one that a job can hold.
func (w *world) tableName(base string) string {
	if name := w.some(base); !w.has[ofLongNames] {
		return name
	}
	return fmt.Sprintf("%s%d", base, w.names) + strings.Repeat("x", 64-len(base)-len(fmt.Sprint(w.names)))
}

// collation draws one.
func (w *world) collation() collation {
	if !w.has[ofCharset] {
		return collation{"utf8mb4", "utf8mb4_unicode_ci"}
	}
	for {
		if c := w.collations[w.r.IntN(len(w.collations))]; samples[c.charset] != "" {
			return c
		}
	}
}

// build draws the tables.
func (w *world) build() {
	for i := range w.count {
		t := &table{name: w.tableName("t"), engine: "InnoDB"}
		if w.is(ofTooLongName, i) {
			t.name = "t" + strings.Repeat("Ж", 40)
		}
		w.tables = append(w.tables, t)
		w.keyOf(t, i)
		if i > 0 {
			w.edgeOf(t, i)
		}
		w.dataOf(t, i)
		w.constraintsOf(t, i)
		w.storageOf(t, i)
	}
	for i, t := range w.tables {
		if p := t.parent; p != nil && (w.is(ofPartitions, i) || w.tables[w.at[ofPartitions]] == p && w.has[ofPartitions] || p.archive != "" || t.engine != p.engine) {
			t.rule = ""
		}
	}
	w.triggers = w.triggered()
	w.declare()
}

func (w *world) keyOf(t *table, i int) {
	if i == 0 && w.has[ofVerbs] {
		t.archive = w.tableName("archive")
		t.key = []part{{name: "id", typ: "BIGINT", kind: keyKinds[0]}}
		return
	}
	kinds := keyKinds
	if i > 0 {
		kinds = slices.Concat(keyKinds, otherKeys)
	}
	parts := 1
	if i > 0 && w.r.IntN(4) == 0 && !w.is(ofGeneratedKey, i) && !w.is(ofGeneratedEdge, i+1) {
		parts = 2
	}
	for range parts {
		kind := kinds[w.r.IntN(len(kinds))]
		switch {
		case w.is(ofGeneratedKey, i), w.is(ofGeneratedEdge, i+1):
			kind = keyKinds[0]
		case w.is(ofInexactKey, i):
			kind = keyKind{typ: []string{"DOUBLE", "TIMESTAMP(6)", "BIT(33)"}[w.r.IntN(3)], value: func(i int, _ string) string { return fmt.Sprintf("'2026-01-01 00:00:%02d.%06d'", i%60, i) }}
			if kind.typ != "TIMESTAMP(6)" {
				kind.value = keyKinds[0].value
			}
			if kind.typ == "BIT(33)" {
				kind.value = func(i int, _ string) string { return fmt.Sprint(i) }
			}
		case w.is(ofWideKey, i):
			kind = keyKind{typ: "VARBINARY(3060)", value: keyKinds[3].value}
		}
		p := part{name: w.some("id"), typ: kind.typ, kind: kind}
		if kind.text {
			c := w.collation()
			p.typ, p.charset = kind.typ+c.String(), c.charset
		}
		t.key = append(t.key, p)
	}
	if w.is(ofGeneratedKey, i) {
		t.base = w.some("base")
	}
}

// edgeOf draws what is above the table.
func (w *world) edgeOf(t *table, i int) {
	t.parent = w.tables[w.r.IntN(i)]
	if w.is(ofGeneratedEdge, i) {
		t.parent = w.tables[i-1]
	}
	if w.has[ofWideKey] && w.at[ofWideKey] < i && t.parent == w.tables[w.at[ofWideKey]] || w.is(ofSiblings, i) || w.is(ofSiblings, i+1) {
		t.parent = w.tables[0]
	}
	for _, p := range t.parent.key {
		p.name = w.some("up")
		t.edge = append(t.edge, p)
	}
	t.detach, t.foreign = w.is(ofDetach, i), w.some("foreign")
	switch {
	case w.has[ofCascades] && t.detach:
		t.rule = "ON DELETE SET NULL"
	case w.has[ofCascades]:
		t.rule = "ON DELETE CASCADE"
	case w.r.IntN(3) > 0:
		t.rule = "ON DELETE RESTRICT"
	}
	if w.is(ofGeneratedEdge, i) && t.base == "" && len(t.edge) == 1 && t.edge[0].kind.whole && !t.detach {
		t.base = w.some("packed")
	}
}

// computedPart is the name of the column that is computed of base, or "".
func (t *table) computedPart() string {
	switch {
	case t.base == "":
		return ""
	case len(t.edge) == 1 && strings.Contains(t.base, "packed"):
		return t.edge[0].name
	}
	return t.key[0].name
}

func (w *world) dataOf(t *table, i int) {
	partitioned := w.is(ofPartitions, i)
	forced := slices.IndexFunc(kinds, func(k kind) bool { return k.name == w.value })
	if forced >= 0 && kinds[forced].engine != "" && kinds[forced].engine != w.engine {
		forced = slices.IndexFunc(kinds, func(k kind) bool { return k.name == w.value && k.engine == w.engine })
	}
	for range 1 + w.r.IntN(5) {
		if forced < 0 && (w.has[ofCharset] || w.r.IntN(4) == 0) {
			c := w.collation()
			typ := []string{"VARCHAR(60)", "CHAR(30)", "MEDIUMTEXT", "TINYTEXT"}[w.r.IntN(4)]
			t.data = append(t.data, &column{name: w.some("text"), typ: typ + c.String(), read: asBytes, value: func(r *rand.Rand) string { return texts(r, c.charset) }})
			continue
		}
		k := &kinds[w.r.IntN(len(kinds))]
		if forced >= 0 {
			k, forced = &kinds[forced], -1
		}
		if k.engine != "" && k.engine != w.engine || partitioned && k.alone || t.archive != "" && strings.Contains(k.typ, "ü") {
			continue // of a resource the plan takes no such type
		}
		w.has[prefixOfValues+k.name] = true
		t.data = append(t.data, &column{name: w.some("v"), typ: k.typ, read: k.read, value: k.value})
	}
	if w.is(ofWide, i) {
		for range 300 - len(t.data) {
			t.data = append(t.data, w.small())
		}
	}
	if w.is(ofTrashColumn, i) {
		t.data = append(t.data, &column{name: "onerow_step", typ: "INT", read: asMoney, value: func(*rand.Rand) string { return "7" }})
	}
	if len(t.data) == 0 {
		t.data = append(t.data, w.small())
	}
	t.fills = w.is(ofFullRow, i) && t.archive == ""
}

// small is a column of a few bytes, of which many fit into a row.
func (w *world) small() *column {
	c := &column{name: w.some("w"), read: asFloat, value: func(r *rand.Rand) string { return []string{"NULL", "0.1", "-7", "1e30"}[r.IntN(4)] }}
	switch w.r.IntN(3) {
	case 0:
		c.typ = "FLOAT"
	case 1:
		c.typ = "DOUBLE NOT NULL"
		c.value = func(*rand.Rand) string { return "0.30000000000000004" }
	case 2:
		c.typ, c.read = "VARCHAR(5) CHARACTER SET latin1", asHex
		c.value = func(r *rand.Rand) string { return []string{"NULL", "''", "'a '", literal("é")}[r.IntN(4)] }
	}
	return c
}
