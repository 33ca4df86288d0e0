package idempotency

import (
	"math/big"
	"strings"
)

// canonicalNumber writes a JSON number in one way: its digits without zeros at
// either end, and the power of ten. It works on the text, so it is exact for any
// length, and 1e999999999 costs nothing.
func canonicalNumber(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, power := s, new(big.Int)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		power.SetString(strings.TrimPrefix(s[i+1:], "+"), 10)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))
	return sign + short + "e" + power.String()
}
