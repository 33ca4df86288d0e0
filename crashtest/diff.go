package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// maxDiffRows bounds what a message shows of one table.
const maxDiffRows = 12

// sides names the two runs of a comparison in messages: "1 row without the fault, 0 rows with it".
type sides struct{ want, got string }

var faultSides = sides{"without the fault", "with it"}

// diff shows the rows in which the end of two runs differs, ids renumbered (#1, #2 …). Empty when they are
// equal.
func diff(want, got *identity, names sides) string {
	if slices.Equal(want.fingerprint(), got.fingerprint()) {
		return ""
	}
	wantRows, gotRows := want.rendered(), got.rendered()
	var b strings.Builder
	for i, t := range want.tables {
		missing, extra := subtract(wantRows[i], gotRows[i]), subtract(gotRows[i], wantRows[i])
		if len(missing)+len(extra) > 0 {
			writeTable(&b, t, names, len(wantRows[i]), len(gotRows[i]), missing, extra)
		}
	}
	if b.Len() > 0 {
		return b.String()
	}
	// The rows agree one by one, but an id of one table goes with another row of the next. Rare, so
	// everything with ids is shown.
	b.WriteString("the rows agree, but the generated ids connect them in another way:\n")
	for i, t := range want.tables {
		if slices.ContainsFunc(t.columns, func(c column) bool { return c.class == generated }) {
			writeTable(&b, t, names, len(wantRows[i]), len(gotRows[i]), wantRows[i], gotRows[i])
		}
	}
	return b.String()
}

// rendered is the end of the run as texts, sorted, a list of rows for each table.
func (it *identity) rendered() [][][]string {
	numbers := it.numbers()
	out := make([][][]string, len(it.tables))
	for _, n := range it.nodes {
		if n.start {
			continue
		}
		fields := make([]string, len(n.row))
		for i, v := range n.row {
			fields[i] = shown(v)
		}
		for i, c := range it.tables[n.table].columns {
			if c.class == moment {
				fields[i] = map[string]string{"0": "NULL", "1": "a time"}[n.row[i].String]
			}
		}
		for _, column := range n.ids {
			fields[column] = fmt.Sprintf("#%d", numbers[it.idOf(n, column)])
		}
		out[n.table] = append(out[n.table], fields)
	}
	for _, rows := range out {
		slices.SortFunc(rows, slices.Compare[[]string])
	}
	return out
}

// subtract is a without the rows of b, each row of b taking one away.
func subtract(a, b [][]string) [][]string {
	count := map[string]int{}
	for _, r := range b {
		count[strings.Join(r, "\x00")]++
	}
	return slices.DeleteFunc(slices.Clone(a), func(r []string) bool {
		key := strings.Join(r, "\x00")
		count[key]--
		return count[key] >= 0
	})
}

func writeTable(b *strings.Builder, t *table, names sides, want, got int, missing, extra [][]string) {
	fmt.Fprintf(b, "table %s: %s %s, %s %s\n", t.name, count(want, "row"), names.want, count(got, "row"), names.got)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	line := func(sign string, fields ...string) {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", sign, strings.Join(fields, "\t")) //nolint:errcheck // a strings.Builder takes all
	}
	var head []string
	for _, c := range t.columns {
		head = append(head, c.name)
	}
	line(" ", head...)
	for i, rows := range [][][]string{missing, extra} {
		sign := "-+"[i : i+1]
		for _, r := range rows[:min(len(rows), maxDiffRows)] {
			line(sign, r...)
		}
		if more := len(rows) - maxDiffRows; more > 0 {
			line(sign, fmt.Sprintf("… and %d more", more))
		}
	}
	_ = w.Flush() //nolint:errcheck // likewise
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
