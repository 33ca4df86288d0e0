package featurefuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// constraintsOf adds generated columns, CHECKs and unique keys.
func (w *world) constraintsOf(t *table, i int) {
	q := ident.Quote
	if w.has[ofGenerated] && t.computedPart() != t.key[0].name {
		from := t.key[0].name
		if t.archive != "" || strings.HasPrefix(t.key[0].typ, "CHAR") { // MariaDB takes neither AUTO_INCREMENT nor what the session pads
			from = colNumber
		}
		for _, how := range []string{"VIRTUAL", "STORED"} {
			g := &column{name: w.some("g"), read: asBytes, computed: true, typ: fmt.Sprintf("VARCHAR(300) CHARACTER SET latin1 AS (HEX(%s)) %s", q(from), how)}
			t.data = append(t.data, g)
			if t.archive == "" {
				t.lines = append(t.lines, fmt.Sprintf("KEY %s (%s)", q(w.some("by")), q(g.name)))
			}
		}
	}
	if w.has[ofCheck] {
		t.lines = append(t.lines, fmt.Sprintf("CONSTRAINT %s CHECK (%s >= 0 AND %s < 1000)", q(w.some("check")), colNumber, colRoot))
	}
	if w.has[ofUniqueNulls] {
		u := &column{name: w.some("u"), typ: "INT", read: asMoney, value: func(*rand.Rand) string { return "NULL" }}
		t.data = append(t.data, u)
		columns := []string{u.name, t.data[0].name}
		if w.is(ofPartitions, i) {
			columns = []string{u.name, t.key[0].name, t.key[len(t.key)-1].name}
		} else if strings.Contains(t.data[0].typ, "TEXT") || strings.Contains(t.data[0].typ, "BLOB") || strings.Contains(t.data[0].typ, "JSON") || t.data[0].read == asPlace || strings.Contains(t.data[0].typ, "VECTOR") {
			columns[1] = colTouched
		}
		if t.archive == "" {
			t.lines = append(t.lines, fmt.Sprintf("UNIQUE KEY %s (%s)", q(w.some("one")), ident.Quotes(slices.Compact(columns)...)))
		}
	}
}

func (w *world) storageOf(t *table, i int) {
	switch {
	case w.is(ofCompressed, i):
		t.options = " ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"
	case w.is(ofRowFormat, i):
		t.options = " ROW_FORMAT=" + []string{"REDUNDANT", "COMPACT"}[w.r.IntN(2)]
	case w.is(ofOtherEngine, i):
		t.engine = "MyISAM"
	}
	if w.is(ofVersioned, i) && t.archive == "" {
		t.options += " WITH SYSTEM VERSIONING"
	}
	if w.is(ofPartitions, i) && t.archive == "" {
		names := make([]string, len(t.key))
		for j, p := range t.key {
			names[j] = p.name
		}
		how := "KEY (" + ident.Quotes(names...) + ") PARTITIONS 3"
		switch {
		case t.key[0].kind.whole && w.r.IntN(2) == 0:
			how = "HASH (" + ident.Quote(names[0]) + ") PARTITIONS 5"
		case t.key[0].kind.whole:
			how = "RANGE (" + ident.Quote(names[0]) + ") (PARTITION a VALUES LESS THAN (0), PARTITION b VALUES LESS THAN (60), PARTITION c VALUES LESS THAN MAXVALUE)"
		}
		t.options += " PARTITION BY " + how
	}
}
