package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/onerow/onerow/schema/internal/shape"
)

// archive makes the archive table: the toolkit's columns as DDL has them, all others as they are in the table
// that is there, so that each value fits and sorts as it does there. It numbers nothing, moves no time by
// itself, and has no unique index but the primary key.
func (a *adopter) archive(active *foundTable) {
	r := a.Resource
	want := r.tables()[1]
	var lines []string
	for _, c := range want.columns {
		lines = append(lines, "  "+a.archiveColumn(active, c))
	}
	for _, x := range want.indexes {
		lines = append(lines, "  "+x.ddl())
	}
	name := Quote(want.name)
	a.step(Step{Name: "create_archive",
		What:    fmt.Sprintf("Makes %s, which archived rows move to. Columns of yours are as they are in %s, without AUTO_INCREMENT and ON UPDATE.", want.name, active.name),
		Cost:    "none",
		Writers: fmt.Sprintf("whoever adds or changes a column of %s from now on does so in both tables; the plan, too, has to know it", active.name),
		Back:    "DROP TABLE, which is refused while rows are in it: activate them first",
		Up:      Change{Done: hasTable(want.name), SQL: fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", name, strings.Join(lines, ",\n"))},
		Down: Change{Done: "NOT " + hasTable(want.name), Refused: "EXISTS (SELECT 1 FROM " + name + ")", Because: "the archive has rows: activate them first",
			SQL: "DROP TABLE " + name}})
}

var constantDefault = regexp.MustCompile(`(?i) DEFAULT '[1-9][^']*'`)

func (a *adopter) archiveColumn(active *foundTable, c shape.Column) string {
	r, have := a.Resource, active.column(c.Name)
	w := wanted(r, c)
	toolkits := w.is != anyType && r.KeyType(c.Name) == "" && c.Name != r.Label.Column
	if have == nil || toolkits {
		return Quote(c.Name) + " " + c.Type
	}
	def, known := a.def(active, have)
	if !known {
		a.against(active, c.Name, "its definition cannot be read from SHOW CREATE TABLE", "make the archive by hand, as cascade-worker ddl prints it")
		return ""
	}
	def = def.in(have.charset, have.collation)
	def.replace(generates, "")
	def.replace(moves, "")
	if have.data == "timestamp" {
		def.rest = constantDefault.ReplaceAllString(def.rest, "")
	}
	if w.notNull() {
		def.bind()
	}
	return def.String()
}
