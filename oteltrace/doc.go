// Package oteltrace gives the spans of the toolkit to OpenTelemetry:
//
//	tracer := oteltrace.New(provider)                       // nil: the global one
//	http.ListenAndServe(addr, tracer.Handler(mux))          // verbs of each request
//	err := worker.Run(onerow.WithTracer(ctx, tracer))       // jobs, wherever they were asked for
//
// One request is one trace, from the handler to the last batch of the worker: a deletion stores the W3C
// traceparent of who asked for it, and its job's first attempt is a child of that. Attempts after that are
// traces of their own with a link to it, for they may come days later. A replay and a take-over of an
// idempotency key link to the claim before them. [onerow.Tracer] says which spans there are.
//
//	repo.Delete  onerow.resource                cascade.job    onerow.job, resource, id, attempt
//	httpkey.OneCommit, httpkey.TwoStep          cascade.batch  onerow.job, rows; onerow.jobs of several
//	             onerow.operation, replayed     recover.Job, recover.Rows, recover.batch  onerow.job, rows
//	idempotency.Do  onerow.operation, replayed, taken_over
//	onerow.InTx     an event "run again" for each try after the first, with what the one before has met
//
// An error that is an answer for the client ([onerow.Answer] says a status below 500: not found, taken,
// refused) is the attribute onerow.answer; any other is the span's error. Passwords in addresses and the like
// are taken out of both.
//
// No verb sends a statement more. Not guaranteed: that a span is there for work that a crash has ended; that
// tracestate and baggage reach the worker: only the traceparent is stored.
//
// Open this package when an attribute is added, or errors are to be shown in another way.
package oteltrace
