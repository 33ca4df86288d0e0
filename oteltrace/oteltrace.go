package oteltrace

import (
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/onerow/onerow"
)

// Tracer is an [onerow.Tracer].
type Tracer struct{ tracer trace.Tracer }

var _ onerow.Tracer = (*Tracer)(nil)

// New makes a tracer of a provider; nil is otel.GetTracerProvider().
func New(provider trace.TracerProvider) *Tracer {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return &Tracer{provider.Tracer("github.com/onerow/onerow")}
}

// Handler traces what next does with the toolkit. Where no middleware has begun a span, it continues the
// traceparent that the request brings.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if !trace.SpanContextFromContext(ctx).IsValid() {
			ctx = w3c.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		next.ServeHTTP(w, r.WithContext(onerow.WithTracer(ctx, t)))
	})
}

const header = "traceparent"

var w3c propagation.TraceContext

// Start begins a span, below that of parent if this is a traceparent.
func (t *Tracer) Start(ctx context.Context, name, parent string) context.Context {
	if parent != "" {
		ctx = w3c.Extract(ctx, propagation.MapCarrier{header: parent})
	}
	ctx, _ = t.tracer.Start(ctx, name)
	return ctx
}

// Set adds attributes.
func (t *Tracer) Set(ctx context.Context, attrs ...slog.Attr) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attributes(attrs)...)
	}
}

// Event adds an event.
func (t *Tracer) Event(ctx context.Context, name string, attrs ...slog.Attr) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent(name, trace.WithAttributes(attributes(attrs)...))
	}
}

// Link refers to the span of a traceparent; to nothing where it is none.
func (t *Tracer) Link(ctx context.Context, traceparent string) {
	to := trace.SpanContextFromContext(w3c.Extract(context.Background(), propagation.MapCarrier{header: traceparent}))
	if to.IsValid() {
		trace.SpanFromContext(ctx).AddLink(trace.Link{SpanContext: to})
	}
}

// End ends the span.
func (t *Tracer) End(ctx context.Context, err error) {
	span := trace.SpanFromContext(ctx)
	if status, _ := onerow.Answer(err); err != nil && status < http.StatusInternalServerError {
		span.SetAttributes(attribute.String("onerow.answer", err.Error()))
	} else if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// Traceparent is the span's, "" where there is none.
func (t *Tracer) Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return carrier[header]
}

func attributes(attrs []slog.Attr) []attribute.KeyValue {
	list := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		key := attribute.Key(a.Key)
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindInt64:
			list[i] = key.Int64(v.Int64())
		case slog.KindBool:
			list[i] = key.Bool(v.Bool())
		default:
			list[i] = key.String(v.String())
		}
	}
	return list
}
