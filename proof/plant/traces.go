package main

// Bugs of spans.
var traceBugs = []bug{
	{"a deletion does not know who asked", "./oteltrace", "TestOneRequest|TestAttempts", []change{{"cascade/queue/log.go", "parent := trace.Parent(ctx)", "parent := trace.Parent(ctx)\n\tparent = nil"}}},
	{"each attempt is a child of the request", "./oteltrace", "TestAttempts", []change{{"cascade/trace.go", "if job.Token == 1 {", "if job.Token >= 1 {"}}},
	{"a later attempt is not linked", "./oteltrace", "TestAttempts", []change{{"cascade/trace.go", "	if job.Token != 1 {\n		span.Link", "	if job.Token < 1 {\n		span.Link"}}},
	{"jobs that end together refer to the first request only", "./oteltrace", "TestTogether", []change{{"cascade/trace.go", "range jobs[1:] {\n		span.Link", "range jobs[:0] {\n		span.Link"}}},
	{"a key does not know who claimed it", "./oteltrace", "TestOneRequest|TestTakeOver", []change{{"idempotency/do.go", "micros(c.Lease), trace.Parent(ctx)}", "micros(c.Lease), any(nil)}"}}},
	{"a replay is not linked", "./oteltrace", "TestOneRequest", []change{{"idempotency/replay.go", "if trace.On(ctx) {\n		return sqlLookTraced", "if trace.On(ctx) && false {\n		return sqlLookTraced"}}},
	{"lines have no traceparent", "./oteltrace", "TestOneRequest", []change{{"internal/trace/trace.go", `r.AddAttrs(slog.String("traceparent", string(p)))`, "_ = p"}}},
	{"another try is not told", "./oteltrace", "TestRunAgain", []change{{"retry.go", "		if span.On() {\n", "		if false {\n"}}},
	{"an answer counts as a failure", "./oteltrace", "TestAttempts", []change{{"oteltrace/oteltrace.go", "status < http.StatusInternalServerError {", "status < 0 {"}}},
}
