package cascade

import (
	"context"
	"log/slog"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/trace"
)

// attempt works a job and settles what becomes of it, in one span.
func (w *Worker) attempt(ctx context.Context, c queue.Claim, job queue.Claimed, others bool) error {
	ctx, span := startJob(ctx, job)
	err := w.work(ctx, job, others)
	failed := err
	if fault.FateOf(err, ctx.Err() != nil) == fault.GivenBack {
		failed = nil // it goes on, here or elsewhere
	}
	defer span.End(&failed)
	return w.settle(ctx, c, job, err)
}

// startJob begins the span of an attempt. The first one is a child of the request that asked for the
// deletion; a later one, which may come days afterwards, is linked to it.
func startJob(ctx context.Context, job queue.Claimed) (context.Context, trace.Span) {
	parent := ""
	if job.Token == 1 {
		parent = job.Traceparent
	}
	ctx, span := trace.StartBelow(ctx, "cascade.job", parent, slog.Int64("onerow.job", job.ID))
	if span.On() {
		span.Set(slog.String("onerow.resource", job.Resource), slog.String("onerow.id", job.ResourceID), slog.Int64("onerow.attempt", job.Token))
	}
	if job.Token != 1 {
		span.Link(job.Traceparent)
	}
	return ctx, span
}

// startBundle begins the spans of jobs that one batch ends, and that of the batch: it is a child of the first
// one's, and linked to the requests of all others. Each job has a context, for what is logged of it; none
// where nobody traces.
func startBundle(ctx context.Context, jobs []rootedJob) (batch context.Context, each []context.Context, end func(err *error)) {
	if !trace.On(ctx) {
		return ctx, nil, func(*error) {}
	}
	each = make([]context.Context, len(jobs))
	spans := make([]trace.Span, len(jobs))
	for i, job := range jobs {
		each[i], spans[i] = startJob(ctx, job.Claimed)
	}
	batch, span := trace.Start(each[0], "cascade.batch", slog.Int("onerow.jobs", len(jobs)))
	for _, job := range jobs[1:] {
		span.Link(job.Traceparent)
	}
	return batch, each, func(err *error) {
		span.End(err)
		for _, s := range spans {
			s.End(err)
		}
	}
}
