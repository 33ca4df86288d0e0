package governor

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Throttle says why to wait, "" to go on.
type Throttle struct {
	Kind   string // of its reasons; "" for the application's own
	Reason func(ctx context.Context, db *sql.DB) (string, error)
}

// The kinds of reasons for which a worker waits. A reason is "kind: details".
const (
	kindPaused   = "paused"
	kindDatabase = "database" // the switch cannot be read
	kindThreads  = "threads"
	kindLag      = "lag"
	kindQuery    = "query"
	kindLoad     = "load"
	kindOther    = "throttle" // of a throttle that is not this package's
)

// MaxReason is what fits into the columns for reasons, in bytes.
const MaxReason = 255

// Kinds are all of them.
func Kinds() []string {
	return []string{kindPaused, kindDatabase, kindThreads, kindLag, kindQuery, kindLoad, kindOther}
}

// KindOf is what stands before the colon; "" of no reason.
func KindOf(reason string) string {
	kind, _, _ := strings.Cut(reason, ":")
	if reason == "" || slices.Contains(Kinds(), kind) {
		return kind
	}
	return kindOther
}
