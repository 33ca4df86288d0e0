package main

// Bugs of the plan's retention.
var retentionBugs = []bug{
	{"what was due when it was found goes, whatever was written since", "./cascade", "TestRetentionLooksAgain", []change{{"cascade/internal/work/due.go", "if !p.Due {", "if true {"}}},
	{"a row that is due is looked at without its lock", "./cascade", "TestRetentionWaitsForWriters", []change{{"cascade/internal/graph/due.go", `" FOR UPDATE"`, `""`}}},
	{"what somebody brought back goes again at once", "./cascade", "TestRetentionPassesBy", []change{{"cascade/internal/work/due.go", "case back > 0 &&", "case back < 0 &&"}}},
	{"a row that comes back from the trash is queued again", "./cascade", "TestInterleaveRetention", []change{{"cascade/queue/enqueue_rows.go",
		"sqlLeaveOpen = ` ON DUPLICATE KEY UPDATE batch_seq = batch_seq + 1`", "sqlLeaveOpen = sqlMerge"}}},
	{"each worker has a rate of its own", "./cascade", "TestInterleaveRetention", []change{{"cascade/internal/retain/retain.go", "WHERE resource = ? AND next_at <= UTC_TIMESTAMP(6)`", "WHERE resource = ? AND 1 = 1`"}}},
	{"rows of the same time are passed over behind a page", "./cascade", "TestRetentionPages", []change{{"cascade/internal/graph/due.go",
		` OR " + d.column + " = " + at + " AND " + d.rest.After("", after.rest)`, `"`}}},
	{"a time that comes twice is taken for the first", "./schema", "TestLatest", []change{{"schema/retention.go", "back > 0 &&", "back < 0 &&"}}},
	{"a date without a month makes a row due", "./cascade", "TestRetentionUndated", []change{{"cascade/internal/graph/due.go",
		"	if d.isTimestamp() {\n		return \"TRUE\"", "	if d != nil {\n		return \"TRUE\""}}},
	{"a job deletes a row whose date has no month", "./cascade", "TestRetentionUndated", []change{{"cascade/internal/graph/due.go",
		"age.Valid && age.String >= firstDay && (", "age.Valid && age.String < firstDay && ("}}},
}
