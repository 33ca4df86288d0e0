package main

import (
	"unicode/utf8"

	extast "github.com/yuin/goldmark/extension/ast"
)

// A cell of up to shortCell letters is a figure or a name, and stands on one line. Above longCell it is a
// sentence.
const shortCell, longCell = 16, 40

// widths gives a table's cells the classes by which they are as wide as what they hold asks for: the browser
// alone gives a column of sentences beside one of long names a word per line. A table whose rows are
// sentences becomes one card per row on a phone, where each cell says its head.
func widths(table *extast.Table, source []byte) {
	var longest []int
	var heads []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := plain(cell, source)
			if row.Kind() == extast.KindTableHeader {
				heads, longest = append(heads, text), append(longest, 0)
			} else if i < len(longest) {
				longest[i] = max(longest[i], utf8.RuneCountInString(text))
			}
			i++
		}
	}
	short, long, all := 0, 0, 0
	for _, n := range longest {
		all += min(n, longCell)
		if n <= shortCell {
			short++
		} else if n > longCell {
			long++
		}
	}
	if cards := len(longest) > 2 && long > 0 && short < 4 && all > 2*longCell; cards {
		table.SetAttributeString("class", "cards")
	}
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil && i < len(longest); cell = cell.NextSibling() {
			switch {
			case row.Kind() == extast.KindTableHeader && longest[i] > longCell:
				cell.SetAttributeString("class", "long")
			case row.Kind() == extast.KindTableHeader && longest[i] > shortCell:
				cell.SetAttributeString("class", "middle")
			case row.Kind() != extast.KindTableHeader && utf8.RuneCountInString(plain(cell, source)) <= shortCell:
				cell.SetAttributeString("class", "short")
			}
			if i > 0 && heads[i] != "" && row.Kind() != extast.KindTableHeader {
				cell.SetAttributeString("data-head", heads[i])
			}
			i++
		}
	}
}
