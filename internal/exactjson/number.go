package exactjson

import (
	"fmt"
	"strconv"
	"strings"
)

// longestExponent is how many digits an exponent may have: with those, the sums below fit into 64 bits for
// any text that fits into memory. What is longer is no number that anybody means, and to compute with it
// takes time that grows with the square of its length.
const longestExponent = 18

// Number writes a JSON number in one way: its digits without zeros at either end, and the power of
// ten. It works on the text, in one pass, so it is exact for any length, and 1e999999999 costs nothing.
func Number(s string) (string, error) {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" { // whatever its exponent is
		return "0", nil
	}
	power, err := powerOf(exponent)
	if err != nil {
		return "", err
	}
	power += int64(len(digits) - len(short) - len(fraction))
	return sign + short + "e" + strconv.FormatInt(power, 10), nil
}

// powerOf reads the exponent of a JSON number; there may be none.
func powerOf(exponent string) (int64, error) {
	digits := strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
	if digits == "" {
		return 0, nil
	}
	if len(digits) > longestExponent {
		return 0, fmt.Errorf("a number has an exponent of %d digits, up to %d are compared", len(digits), longestExponent)
	}
	if exponent[0] == '-' {
		digits = "-" + digits
	}
	return strconv.ParseInt(digits, 10, 64)
}
