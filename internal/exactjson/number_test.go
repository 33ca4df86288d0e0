package exactjson

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// FuzzNumber: two numbers have one form exactly when they are equal.
func FuzzNumber(f *testing.F) {
	for _, pair := range [][2]string{{"1", "1.0"}, {"10", "1e1"}, {"0", "-0"}, {"0.10", "1e-1"}, {"-5", "5"}, {"1e999999999", "1e999999998"}, {"100e-2", "1"}, {"1E+2", "100"},
		{"1e000000000000000000000000000002", "100"}, {"1e999999999999999999", "10e999999999999999998"}, {"0e" + strings.Repeat("9", 30), "0"}, {"1e" + strings.Repeat("9", 30), "1"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			// White space around a number is JSON, and never in a json.Number.
			if !json.Valid([]byte(s)) || !strings.ContainsAny(s[:1], "-0123456789") || strings.ContainsAny(s, " \t\r\n") {
				return
			}
		}
		ca, err := Number(a)
		cb, err2 := Number(b)
		if exponent(a) > 300 || exponent(b) > 300 {
			return
		}
		same := ca == cb && err == nil && err2 == nil
		x, ok := new(big.Rat).SetString(a)
		y, ok2 := new(big.Rat).SetString(b)
		if ok && ok2 && (x.Cmp(y) == 0) != same {
			t.Errorf("%s and %s: %s (%v) and %s (%v)", a, b, ca, err, cb, err2)
		}
	})
}

// exponent is the size of a number's exponent, for what big.Rat should not be asked.
func exponent(s string) int {
	_, e, _ := strings.Cut(strings.ToLower(s), "e")
	e = strings.TrimLeft(strings.TrimLeft(e, "+-"), "0")
	if len(e) > 3 {
		return 1000
	}
	n := 0
	for _, c := range e {
		n = 10*n + int(c-'0')
	}
	return n
}
