// Package naming says which names a plan may use, and which one somebody may have meant.
package naming

import "strings"

// MaxResource is the length of the columns that hold a resource's name.
const MaxResource = 64

// ToolkitPrefix begins the names of the toolkit's own tables. A cascade through them would delete its own
// job.
const ToolkitPrefix = "onerow_"

// IsToolkits says whether the name is one of the toolkit's own tables.
func IsToolkits(table string) bool {
	return strings.HasPrefix(strings.ToLower(table), ToolkitPrefix) // some servers ignore case in names
}
