// Package kept marks queries that a guarded session keeps prepared, for they are sent again and again and
// take the server longer to read than to answer.
package kept

import "context"

type mark struct{}

// Prepared returns a context whose queries are kept.
func Prepared(ctx context.Context) context.Context { return context.WithValue(ctx, mark{}, true) }

// Asked says whether those of ctx are.
func Asked(ctx context.Context) bool { return ctx.Value(mark{}) != nil }
