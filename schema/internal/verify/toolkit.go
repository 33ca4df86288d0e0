package verify

import (
	"strings"
	"sync"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema/internal/shape"
)

// ToolkitTable is one of the toolkit's own tables: what its statements rely on.
type ToolkitTable struct {
	Name    string
	Columns []WantColumn
	Indexes []shape.Index
}

// ToolkitTables returns what Verify wants of the toolkit's tables: what their migrations make.
var ToolkitTables = sync.OnceValue(func() (all []ToolkitTable) {
	for _, made := range ddl.Tables() {
		want := ToolkitTable{Name: made.Name}
		for _, c := range made.Columns {
			want.Columns = append(want.Columns, toolkitColumn(c.Name, c.Type))
		}
		for _, x := range made.Indexes {
			index := shape.Index{Name: x.Name, Columns: x.Columns, Unique: x.Unique, Why: "the toolkit's statements go by it"}
			if x.Unique {
				index.Why = "it decides which of two callers wins"
			}
			want.Indexes = append(want.Indexes, index)
		}
		all = append(all, want)
	}
	return all
})

// longText is how many characters a TEXT holds at least, whatever the server calls it.
const longText = 1000

// toolkitColumn says what matters of a column's type.
func toolkitColumn(name, ddl string) WantColumn {
	w := WantColumn{Name: name, DDL: ddl, Is: Characters, Min: longText}
	t, err := keytype.Parse(ddl)
	switch {
	case strings.HasPrefix(ddl, "DATETIME(6)"):
		w.Is, w.Min = UTCTime, 0
	case strings.HasPrefix(ddl, "MEDIUMBLOB"):
		w.Is, w.Min = AnyType, 0 // no index is on it
	case err != nil: // a TEXT
	case t.Class == keytype.Text:
		w.Min = int64(t.Length)
	case t.Class == keytype.Integer:
		w.Is, w.Min = Integer, int64(t.Length)
	case t.Fixed:
		w.Is, w.Min = FixedBytes, int64(t.Length)
	default:
		w.Is, w.Min = VariableBytes, int64(t.Length)
	}
	return w
}
