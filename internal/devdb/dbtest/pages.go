package dbtest

import (
	"slices"
	"testing"
)

// Pages reads a list in pages of one, of two, of all but one, of all and of more, each from its beginning to
// its end, and fails unless each way gives exactly want, in its order. page returns the keys of at most limit
// items behind after, which is the zero value for the first page.
func Pages[K comparable](t testing.TB, want []K, page func(after K, limit int) []K) {
	t.Helper()
	for _, limit := range []int{1, 2, max(1, len(want)-1), max(1, len(want)), len(want) + 1} {
		var got []K
		var after K
		for len(got) <= len(want) {
			part := page(after, limit)
			if len(part) > limit {
				t.Errorf("a page of %d has %d items", limit, len(part))
			}
			got = append(got, part...)
			if len(part) == 0 || len(part) < limit {
				break
			}
			after = part[len(part)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, want)
		}
	}
}
