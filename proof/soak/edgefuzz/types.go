package edgefuzz

import "math"

// integer is a column type with where it ends.
type integer struct {
	name, sql string
	bits      int
	unsigned  bool
}

// integers are all of them.
var integers = []integer{
	{"tiny", "TINYINT", 8, false}, {"utiny", "TINYINT UNSIGNED", 8, true}, {"small", "SMALLINT", 16, false}, {"usmall", "SMALLINT UNSIGNED", 16, true},
	{"medium", "MEDIUMINT", 24, false}, {"umedium", "MEDIUMINT UNSIGNED", 24, true}, {"int", "INT", 32, false}, {"uint", "INT UNSIGNED", 32, true},
	{"big", "BIGINT", 64, false}, {"ubig", "BIGINT UNSIGNED", 64, true},
}

// number is a Go type of ids, owners and amounts.
type number interface{ ~int64 | ~uint64 }

// most is the largest value of the type.
func (t integer) most() uint64 {
	if t.unsigned {
		return math.MaxUint64 >> (64 - t.bits)
	}
	return math.MaxInt64 >> (64 - t.bits)
}

// ends are the values at which a type ends, within it.
func ends[N number](t integer) []N {
	all := []N{0, 1, N(t.most()), N(t.most() - 1)}
	if !t.unsigned {
		least := int64(math.MinInt64) >> (64 - t.bits)
		all = append(all, N(least), N(least+1), ^N(0)) // -1
	}
	return all
}
