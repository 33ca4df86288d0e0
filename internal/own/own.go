// Package own marks queries of the toolkit's own, which are known to write nothing: they may travel with
// COMMIT. It marks a context, so that no text can pretend to be one.
package own

import "context"

type mark struct{}

// Query returns a context whose queries are the toolkit's own.
func Query(ctx context.Context) context.Context { return context.WithValue(ctx, mark{}, true) }

// Is says whether those of ctx are.
func Is(ctx context.Context) bool { return ctx.Value(mark{}) != nil }
