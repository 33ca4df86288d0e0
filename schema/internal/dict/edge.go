package catalog

import (
	"maps"

	"github.com/onerow/onerow/schema"
)

// Conditions are the columns of which each row over the edge has the same value.
func Conditions(e schema.Edge) map[string]string {
	all := map[string]string{}
	maps.Copy(all, e.When)
	if mark := e.OnDelete.Mark(); mark != "" {
		all[mark] = ""
	}
	return all
}
