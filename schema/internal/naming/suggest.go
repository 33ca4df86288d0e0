package naming

import (
	"fmt"
	"strings"
)

// DidYouMean returns `; did you mean "project"?` where one of the names is nearly it, or "".
func DidYouMean(name string, names []string) string {
	const enough = 10_000 // a plan is input, and may be large
	if len(names) > enough {
		return ""
	}
	best, least := "", max(2, len([]rune(name))/3)+1
	for _, candidate := range names {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		plural := strings.TrimSuffix(strings.ToLower(name), "s") == strings.TrimSuffix(strings.ToLower(candidate), "s")
		if plural {
			d = 0
		}
		if d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many characters must be changed, added or taken away (Levenshtein).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
