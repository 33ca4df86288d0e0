package wire

import (
	"context"
	"sync/atomic"
)

// key is of what a context carries.
type key int

const (
	callKey key = iota
	batchKey
	ownKey
	preparedKey
	counterKey
)

func carried[T any](ctx context.Context, k key) T {
	v, _ := ctx.Value(k).(T)
	return v
}

// WithCall returns a context for a BEGIN that may wait for the first statement of its transaction. COMMIT
// obeys the context of the call, which is that of onerow.InTx. It is only for who runs a transaction again
// whose session turns out to be dead.
func WithCall(ctx, call context.Context) context.Context {
	return context.WithValue(ctx, callKey, call)
}

// Call is the call's context, or nil.
func Call(ctx context.Context) context.Context { return carried[context.Context](ctx, callKey) }

// WithBatch returns the context in which a batch is executed.
func WithBatch(ctx context.Context, b *Batch) context.Context {
	return context.WithValue(ctx, batchKey, b)
}

// BatchOf is that batch, or nil.
func BatchOf(ctx context.Context) *Batch { return carried[*Batch](ctx, batchKey) }

// OwnQueries returns a context whose queries are the toolkit's own, which are known to write nothing: they
// may travel with COMMIT.
func OwnQueries(ctx context.Context) context.Context { return context.WithValue(ctx, ownKey, true) }

// AreOwn says whether those of ctx are.
func AreOwn(ctx context.Context) bool { return ctx.Value(ownKey) != nil }

// KeepPrepared returns a context whose queries a guarded session keeps prepared, for they are sent again and
// again and take the server longer to read than to answer.
func KeepPrepared(ctx context.Context) context.Context {
	return context.WithValue(ctx, preparedKey, true)
}

// KeptPrepared says whether those of ctx are.
func KeptPrepared(ctx context.Context) bool { return ctx.Value(preparedKey) != nil }

// CountSent returns a context whose statements guarded sessions add to n: for who wants to know which part of
// a server's work is its own.
func CountSent(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, counterKey, n)
}

// Sent is called by who sends statements. A BEGIN counts for its COMMIT or ROLLBACK, too, which has no
// context.
func Sent(ctx context.Context, statements int) {
	if n := carried[*atomic.Int64](ctx, counterKey); n != nil {
		n.Add(int64(statements))
	}
}
