package verify

import (
	"fmt"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
)

// trash holds the trash tables against the tables whose rows they keep.
func (v *verifier) trash(nodes []schema.Node) {
	for _, n := range nodes {
		if n.Trash <= 0 {
			continue
		}
		for _, name := range n.Tables {
			have := v.found.Table(name)
			if have == nil || len(have.Primary()) == 0 {
				continue // said already
			}
			trash, kept := v.found.Table(ident.TrashTable(name)), have.Trashed(nodes, n)
			if problem := have.TrashProblem(kept); trash == nil && problem != "" {
				v.report(TableMissing, Difference{Table: ident.TrashTable(name), Problem: fmt.Sprintf("it does not exist and cannot be made, so no row of %q is deleted: %s", name, problem), Fix: dict.TrashAdvice(name)}, "")
				continue
			}
			if trash == nil {
				v.report(TableMissing, Difference{Table: ident.TrashTable(name), Problem: fmt.Sprintf("it does not exist; deleted rows of %q are kept in it, and until it is there none is deleted", name),
					Fix: "run what cascade-worker ddl --trash prints"}, "")
				continue
			}
			for _, f := range kept {
				problem := trash.TrashColumnProblem(f)
				if problem == "" {
					continue
				}
				d, statement := Difference{Table: trash.Name, Column: f.Name, Problem: fmt.Sprintf("deleted rows of %q are kept in it, and %s", name, problem),
					Fix: "make it that of " + name + ", when nothing is in the trash that would not fit"}, ""
				if trash.Column(f.Name) == nil {
					d.Fix, statement = v.addKept(have, trash, f)
				}
				v.report(ColumnMissing, d, statement)
			}
			if tr := v.found.InsertTrigger(name, n.Triggers); tr != "" {
				v.report(ForeignTrigger, Difference{Table: name, Problem: fmt.Sprintf("the trigger %q runs with each row that comes back from the trash", tr),
					Fix: fmt.Sprintf("look at it: if it may run again, say so in the plan, triggers: [%s]; otherwise say trash: none", tr)}, "")
			}
		}
	}
}

// addKept adds a column to the trash table. Rows that are kept there already get what the table's rows got,
// the column's default; as NULL they could not come back.
func (v *verifier) addKept(have, trash *dict.Table, f *dict.Column) (words, statement string) {
	words, def := "add it:", ident.Quote(f.Name)+" "+f.Kept(false)
	if full, known := v.definition(have, f); f.HasDefault && !known {
		return fmt.Sprintf("add it as %q has it, with its DEFAULT, but NULLable", have.Name), ""
	} else if f.HasDefault {
		full = full.WithCollation(f.Charset, f.Collation)
		full.Replace(dict.Moves, "")
		full.AllowNull()
		def = full.String()
	} else if !f.Nullable {
		words = "add it, and give it a value in each row that is kept, or none of them comes back:"
	}
	return words, "ALTER TABLE " + ident.Quote(trash.Name) + " ADD COLUMN " + def
}
