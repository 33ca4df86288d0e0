// Package sent counts the statements that guarded pools, those of onerow.Open for instance, send for a
// context: for who wants to know which part of a server's work is its own.
package sent

import (
	"context"
	"sync/atomic"
)

type counter struct{}

// Count returns a context whose statements are added to n.
func Count(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, counter{}, n)
}

// Add is called by who sends statements. A BEGIN counts for its COMMIT or ROLLBACK, too, which has no
// context.
func Add(ctx context.Context, statements int) {
	if n, ok := ctx.Value(counter{}).(*atomic.Int64); ok {
		n.Add(int64(statements))
	}
}
