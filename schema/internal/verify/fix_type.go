package verify

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow/schema/internal/dict"
)

// Wider is the type that the column needs and that holds every value it has, or "".
func (c WantColumn) Wider(have *dict.Column) string {
	want := *have
	switch word, _, _ := strings.Cut(strings.ToLower(c.DDL), " "); {
	case c.Is == Integer:
		want.Data = word
		if strings.Contains(have.Full, "unsigned") {
			word += " unsigned"
		}
		if strings.Contains(have.Full, "zerofill") {
			word += " zerofill"
		}
		want.Full = word
	case c.Is == VariableBytes:
		want.Full, want.Length = fmt.Sprintf("varbinary(%d)", c.Min), c.Min
	case c.Is == Characters && have.Charset == "utf8mb4":
		want.Full, want.Length = fmt.Sprintf("varchar(%d)", c.Min), c.Min
	case c.Is == UTCTime:
		want.Full, want.Precision = "datetime(6)", 6
	default:
		return ""
	}
	if kind, _, _ := strings.Cut(want.Full, "("); c.Is != Integer {
		want.Data = kind
	}
	if !want.Holds(have) {
		return ""
	}
	return want.Full
}
