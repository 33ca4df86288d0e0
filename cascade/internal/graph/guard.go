package graph

import (
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Guard is an index of columns that edges refer to, other than the primary key. A foreign
// key to these columns locks the parent's entry there and nothing else, so a lock on the
// parent's row, which is in the primary key, does not keep children away.
type Guard struct {
	Index   string // " FORCE INDEX (…)", or narrow
	Outside string // as Source.outside
}

// guard are the indexes of some columns. Which one a foreign key uses the catalog does not
// tell. Columns that are referred to as text have no foreign key.
func (t *Table) guard(columns []string, asText bool, cat *catalog.Catalog, all indexes) (list []Guard) {
	if asText {
		return nil
	}
	for _, name := range cat.Indexes(t.Name, schema.Edge{Columns: columns}) {
		if !strings.EqualFold(name, "PRIMARY") {
			g := Guard{" FORCE INDEX (" + ident.Quote(name) + ")", all.outside(t, [2]string{strings.ToLower(t.Name), strings.ToLower(name)})}
			if g.Outside == "" {
				g.Index = narrow(name)
			}
			list = append(list, g)
		}
	}
	return list
}
