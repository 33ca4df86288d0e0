package adopt

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/internal/verify"
)

// archive makes the archive table: the toolkit's columns as DDL has them, all others as they are in the table
// that is there, so that each value fits and sorts as it does there. It numbers nothing, moves no time by
// itself, and has no unique index but the primary key.
func (a *adopter) archive(active *dict.Table) {
	r := a.Resource
	want := r.Shape()[1]
	var lines []string
	for _, c := range want.Columns {
		lines = append(lines, "  "+a.archiveColumn(active, c))
	}
	for _, x := range want.Indexes {
		lines = append(lines, "  "+x.DDL())
	}
	name := ident.Quote(want.Name)
	a.step(Step{Name: "create_archive",
		What:    fmt.Sprintf("Makes %s, which archived rows move to. Columns of yours are as they are in %s, without AUTO_INCREMENT and ON UPDATE.", want.Name, active.Name),
		Cost:    "none",
		Writers: fmt.Sprintf("whoever adds or changes a column of %s from now on does so in both tables; the plan, too, has to know it", active.Name),
		Back:    "DROP TABLE, which is refused while rows are in it: activate them first",
		Up:      change{Done: hasTable(want.Name), SQL: fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", name, strings.Join(lines, ",\n"))},
		Down: change{Done: "NOT " + hasTable(want.Name), Refused: "EXISTS (SELECT 1 FROM " + name + ")", Because: "the archive has rows: activate them first",
			SQL: "DROP TABLE " + name}})
}

var constantDefault = regexp.MustCompile(`(?i) DEFAULT '[1-9][^']*'`)

func (a *adopter) archiveColumn(active *dict.Table, c shape.Column) string {
	r, have := a.Resource, active.Column(c.Name)
	w := verify.Wanted(r, c)
	toolkits := w.Is != verify.AnyType && !w.Key && c.Name != r.Label.Column
	if have == nil || toolkits {
		return ident.Quote(c.Name) + " " + c.Type
	}
	def, known := a.def(active, have)
	if !known {
		a.block(active, c.Name, "its definition cannot be read from SHOW CREATE TABLE", "make the archive by hand, as cascade-worker ddl prints it")
		return ""
	}
	def = def.WithCollation(have.Charset, have.Collation)
	def.Replace(dict.Generates, "")
	def.Replace(dict.Moves, "")
	if have.Data == "timestamp" {
		def.Rest = constantDefault.ReplaceAllString(def.Rest, "")
	}
	if w.NotNull() {
		def.ForbidNull()
	}
	return def.String()
}
