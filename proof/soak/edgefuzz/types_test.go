package edgefuzz

import (
	"fmt"
	"testing"
)

func TestEnds(t *testing.T) {
	for name, want := range map[string]string{
		"tiny": "[0 1 127 126 -128 -127 -1]", "umedium": "[0 1 16777215 16777214]", "big": "[0 1 9223372036854775807 9223372036854775806 -9223372036854775808 -9223372036854775807 -1]",
		"ubig": "[0 1 18446744073709551615 18446744073709551614]",
	} {
		for _, typ := range integers {
			got := fmt.Sprint(ends[int64](typ))
			if typ.unsigned {
				got = fmt.Sprint(ends[uint64](typ))
			}
			if typ.name == name && got != want {
				t.Errorf("%s: %s, not %s", name, got, want)
			}
		}
	}
}
