package live

import (
	"slices"

	"github.com/onerow/onerow/schema/internal/verify"
)

// IsToolkit says whether a table is one of package migrations.
func IsToolkit(table string) bool {
	return slices.ContainsFunc(verify.ToolkitTables(), func(t verify.ToolkitTable) bool { return t.Name == table })
}
