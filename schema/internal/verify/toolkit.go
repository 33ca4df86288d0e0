package verify

import (
	"strings"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema/internal/shape"
)

// toolkit looks for the tables of package migrations: what their statements rely on.
func (v *verifier) toolkit() {
	const migrate = "run cascade-worker migrate up, or migrations.Up; where that finds nothing to do, make it again as its migration does"
	for _, made := range ddl.Tables() {
		if v.found.hidden[made.Name] {
			continue // it is another workflow's, or VerifyPrivileges says what is missing
		}
		have := v.table(made.Name, migrate)
		if have == nil {
			continue
		}
		for _, c := range made.Columns {
			found := have.Column(c.Name)
			if problem := toolkitColumn(c.Name, c.Type).Problem(found); problem != "" {
				v.wrong[found] = true
				v.report(ToolkitColumn, Difference{Table: made.Name, Column: c.Name, Problem: problem, Fix: migrate}, "")
			}
		}
		want := shape.Table{Name: made.Name}
		for _, x := range made.Indexes {
			why := "the toolkit's statements go by it"
			if x.Unique {
				why = "it decides which of two callers wins"
			}
			want.Indexes = append(want.Indexes, shape.Index{Name: x.Name, Columns: x.Columns, Unique: x.Unique, Why: why})
		}
		v.indexes(want, have)
		v.triggers(have)
	}
}

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
