package onerow

import (
	"context"
	"log/slog"

	"github.com/onerow/onerow/internal/trace"
)

// Tracer makes spans of what the toolkit does: package oteltrace is one for OpenTelemetry. The span of a
// context is the tracer's own affair: Start puts it there, and the other methods are for the last one.
//
// Spans begin with each verb (repo.Create, idempotency.Do, …), with each transaction that a verb or [InTx]
// begins (onerow.InTx, with an event for each try after the first), with each statement that stands alone
// (onerow.Alone), with each job and batch of a worker, each restore, and each request with a key in package
// httpkey. Methods may be called at once from many goroutines, and must neither block nor panic.
type Tracer interface {
	// Start begins a span and returns its context. Its parent is the span of the W3C traceparent that is
	// given, where that is not "", else that of ctx, if there is one.
	Start(ctx context.Context, name, parent string) context.Context
	// Set adds attributes to the span.
	Set(ctx context.Context, attrs ...slog.Attr)
	// Event adds an event to the span.
	Event(ctx context.Context, name string, attrs ...slog.Attr)
	// Link refers to the span of a W3C traceparent, which this one continues or repeats.
	Link(ctx context.Context, traceparent string)
	// End ends the span; err is what the work returned, nil for none.
	End(ctx context.Context, err error)
	// Traceparent is the span as a W3C traceparent; "" where there is none. It is stored with an idempotency
	// key and a deletion, whose work goes on in another process, and stands in log lines.
	Traceparent(ctx context.Context) string
}

// WithTracer returns a context in which the toolkit's work is traced, by whichever package: give it to a
// verb, to a worker's Run, or in a middleware to the handlers below. Tracing sends no statement. Without a
// tracer nothing is traced, and nothing is allocated for it.
func WithTracer(ctx context.Context, t Tracer) context.Context { return trace.With(ctx, t) }
