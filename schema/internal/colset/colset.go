// Package colset compares lists of names of columns. Servers ignore the case of such names.
//
// Open this package when lists of columns are compared.
package colset

import (
	"slices"
	"strings"
)

// Lower returns the names in lower case.
func Lower(names []string) []string {
	low := make([]string, len(names))
	for i, name := range names {
		low[i] = strings.ToLower(name)
	}
	return low
}

// Some returns the name alone, or nothing where it is empty.
func Some(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// Has says whether the name is among the names, in whatever case.
func Has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// Twice returns a name that is there twice, in whatever case, or "".
func Twice(names []string) string {
	for i, name := range names {
		if Has(names[:i], name) {
			return name
		}
	}
	return ""
}

// StartsWith says whether the columns begin with the wanted ones, in that order. Like the two below it
// compares names as they are.
func StartsWith(columns, want []string) bool {
	return len(columns) >= len(want) && slices.Equal(columns[:len(want)], want)
}

// ContainsAll says whether each wanted one is among the columns.
func ContainsAll(columns, want []string) bool {
	return !slices.ContainsFunc(want, func(c string) bool { return !slices.Contains(columns, c) })
}

// Same says whether the two have the same columns, in whatever order.
func Same(a, b []string) bool { return len(a) == len(b) && ContainsAll(a, b) }
