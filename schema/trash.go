package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age is how long something is kept. As text it is a number of days, "30d", or what [time.ParseDuration]
// takes, "36h"; "none" is [NoTrash].
type Age time.Duration

// NoTrash is the age of what is not kept at all.
const NoTrash Age = -1

const day = 24 * time.Hour

// UnmarshalText reads an age.
func (a *Age) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "none" {
		*a = NoTrash
		return nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 32); err == nil && n > 0 && n <= longestDays {
			*a = Age(time.Duration(n) * day)
			return nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > longestDays*day {
		return fmt.Errorf("%q is no age: it is a number of days as in 30d, or hours as in 36h, up to %dd; or none", s, longestDays)
	}
	*a = Age(d)
	return nil
}

const longestDays = 36500

// MarshalText writes it as UnmarshalText reads it.
func (a Age) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String is "30d", "36h0m0s" or "none".
func (a Age) String() string {
	switch d := time.Duration(a); {
	case a < 0:
		return "none"
	case d > 0 && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	default:
		return d.String()
	}
}

// Kept are the tables of the plan whose deleted rows are kept.
func (p Plan) Kept() (tables []string) {
	for _, n := range p.Nodes() {
		if n.Trash > 0 {
			tables = append(tables, n.Tables...)
		}
	}
	return tables
}
