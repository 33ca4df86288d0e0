package main

import "strings"

// clock is a bug that takes the session's clock for UTC: the two are the same in a session at +00:00.
func clock(name, pkg, run, file, at string) bug {
	return bug{name, pkg, run, []change{{file, at, strings.ReplaceAll(at, "UTC_TIMESTAMP(6)", "NOW(6)")}}}
}

// The bugs of clocks.
var zoneBugs = []bug{
	clock("request ids are purged by the session's clock", "./repo", "InEachZone", "repo/request.go",
		"created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY"),
	clock("ended runs are forgotten by the session's clock", "./flow", "InEachZone", "flow/forget.go",
		"ended_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND\n ORDER BY"),
	clock("messages are forgotten by the session's clock", "./ordering", "InEachZone", "ordering/forget.go",
		"received_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY"),
	clock("how long a stream waits is told by the session's clock", "./ordering", "InEachZone", "ordering/read.go",
		"updated_at, UTC_TIMESTAMP(6))"),
	clock("an owner changed at the session's time", "./quota", "Clocks|InEachZone", "quota/recalculate.go",
		"SET changed_at = UTC_TIMESTAMP(6) WHERE"),
	clock("owners that changed lately by the session's clock", "./quota", "InEachZone", "quota/sweep.go",
		"changed_at > UTC_TIMESTAMP(6) - INTERVAL"),
	clock("a lease is extended by the session's clock", "./idempotency", "Clocks|InEachZone", "idempotency/finish.go",
		"lease_until = COALESCE(UTC_TIMESTAMP(6) + INTERVAL"),
	clock("a completion is expected by the session's clock", "./idempotency", "Clocks|InEachZone", "idempotency/finish.go",
		"expected_completion = COALESCE(UTC_TIMESTAMP(6) + INTERVAL"),
	clock("a key is free by the session's clock", "./idempotency", "InEachZone", "idempotency/row.go",
		"COALESCE(lease_until <= UTC_TIMESTAMP(6), FALSE)))`"),
	clock("a window is opened again by the session's clock", "./idempotency", "Clocks|InEachZone", "idempotency/admit.go",
		"admitted_at = UTC_TIMESTAMP(6), until_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND` +"),
	clock("expired keys are found by the session's clock", "./idempotency", "InEachZone", "idempotency/keyadmin/purge.go",
		"WHERE expires_at <= UTC_TIMESTAMP(6) ORDER BY"),
	clock("ended windows are found by the session's clock", "./idempotency", "InEachZone", "idempotency/keyadmin/purge.go",
		"WHERE until_at <= UTC_TIMESTAMP(6) ORDER BY"),
	clock("a failed job is due again by the session's clock", "./cascade", "Clocks|InEachZone", "cascade/queue/end.go",
		"due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND\nWHERE id = ? AND token = ? AND state = 'running'`"),
	clock("a deletion is taken back by the session's clock", "./cascade", "InEachZone", "cascade/queue/cancel.go",
		"` + notBegun + ` AND due_at > UTC_TIMESTAMP(6)"),
	clock("workers are gone by the session's clock", "./cascade", "InEachZone", "cascade/internal/governor/beat.go",
		"seen_at < UTC_TIMESTAMP(6) - INTERVAL 1 HOUR ORDER BY"),
}
