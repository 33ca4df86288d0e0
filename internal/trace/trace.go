// Package trace starts the spans of the toolkit's own work with the onerow.Tracer of a context. Without one
// every call is a look into the context, and allocates nothing.
//
//	ctx, span := trace.Start(ctx, "serial.Claim", slog.String("onerow.series", s.name))
//	defer span.End(&err)
//
// Open this package when a span, an event or a logged traceparent is added.
package trace

import (
	"context"
	"log/slog"

	"github.com/onerow/onerow/internal/redact"
)

// tracer is onerow.Tracer, which stands above.
type tracer interface {
	Start(ctx context.Context, name, parent string) context.Context
	Set(ctx context.Context, attrs ...slog.Attr)
	Event(ctx context.Context, name string, attrs ...slog.Attr)
	Link(ctx context.Context, traceparent string)
	End(ctx context.Context, err error)
	Traceparent(ctx context.Context) string
}

type tracerKey struct{}

// With is a context with a tracer.
func With(ctx context.Context, t tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

func of(ctx context.Context) tracer {
	t, _ := ctx.Value(tracerKey{}).(tracer)
	return t
}

// Span is one that was started. The zero value does nothing.
type Span struct {
	t   tracer
	ctx context.Context //nolint:containedctx // a span is its context
}

// Start begins a span below that of ctx, and says what it is about.
func Start(ctx context.Context, name string, about slog.Attr) (context.Context, Span) {
	return StartBelow(ctx, name, "", about)
}

// StartBelow is Start below the span of a traceparent; "" is that of ctx.
func StartBelow(ctx context.Context, name, parent string, about slog.Attr) (context.Context, Span) {
	t := of(ctx)
	if t == nil {
		return ctx, Span{}
	}
	ctx = t.Start(ctx, name, parent)
	if about.Key != "" {
		t.Set(ctx, about)
	}
	return ctx, Span{t, ctx}
}

// Of is the span of ctx.
func Of(ctx context.Context) Span { return Span{of(ctx), ctx} }

// On says whether somebody watches: what is costly to say is said only then.
func (s Span) On() bool { return s.t != nil }

// Set says more about what is done.
func (s Span) Set(attrs ...slog.Attr) {
	if s.t != nil {
		s.t.Set(s.ctx, attrs...)
	}
}

// Event notes a moment.
func (s Span) Event(name string, attrs ...slog.Attr) {
	if s.t != nil {
		s.t.Event(s.ctx, name, attrs...)
	}
}

// Link refers to the span of a traceparent; to nothing if it is "".
func (s Span) Link(traceparent string) {
	if s.t != nil && traceparent != "" {
		s.t.Link(s.ctx, traceparent)
	}
}

// End ends the span with what err points to: it is for defer. The tracer is told no secret.
func (s Span) End(err *error) {
	if s.t == nil {
		return
	}
	ended := *err
	if ended != nil {
		if text := redact.Text(ended.Error()); text != ended.Error() {
			ended = &redacted{ended, text}
		}
	}
	s.t.End(s.ctx, ended)
}

// redacted is an error with another text.
type redacted struct {
	error
	text string
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.error }

// On says whether ctx has a tracer.
func On(ctx context.Context) bool { return of(ctx) != nil }

// MaxParent is how many bytes a column for a traceparent has. Version 00 has 55, a later one may have more.
const MaxParent = 128

// Parent is the traceparent of ctx's span, for what is done later, or nil: an argument of a statement.
func Parent(ctx context.Context) any {
	if t := of(ctx); t != nil {
		if p := t.Traceparent(ctx); p != "" && len(p) <= MaxParent {
			return []byte(p)
		}
	}
	return nil
}

// Log is a logger whose lines have the traceparent of their context, if that has one.
func Log(log *slog.Logger) *slog.Logger { return slog.New(handler{log.Handler()}) }

type handler struct{ slog.Handler }

// Handle adds the traceparent.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if p, ok := Parent(ctx).([]byte); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("traceparent", string(p)))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is that of the handler below.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup is that of the handler below.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
