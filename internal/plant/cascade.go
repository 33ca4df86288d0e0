package main

// The cascade's bugs.
var cascadeBugs = []bug{
	{"a batch does not check the lease token", "./cascade", "Zombie|Fence|Crash", []change{{"cascade/lease.go",
		"MICROSECOND\nWHERE id = ? AND token = ? AND state = 'running'`", "MICROSECOND\nWHERE id = ? AND token > ? - token AND state = 'running'`"}}},
	{"a batch does not check the lease token, found by stepping", "./cascade", "Interleave", []change{{"cascade/lease.go",
		"MICROSECOND\nWHERE id = ? AND token = ? AND state = 'running'`", "MICROSECOND\nWHERE id = ? AND token > ? - token AND state = 'running'`"}}},
	{"parents are not locked before their rows go", "./cascade", "Inserts|Appear|Interleave", []change{{"cascade/internal/work/batch.go",
		`s.Key.In("", keys) + " FOR UPDATE"`, `s.Key.In("", keys)`}}},
	{"a job is claimed by everybody who sees it", "./cascade", "Claim|ManyWorkers|Crash", []change{{"cascade/claim.go",
		"WHERE due_at <= UTC_TIMESTAMP(6) AND id IN `", "WHERE id IN `"}}},
	{"any deletion's cancel takes the job back", "./cascade", "Cancel|Crash", []change{{"cascade/cancel.go",
		"AND deletion_id = ? AND ` + notBegun + ` AND due_at", "AND deletion_id >= ? - deletion_id AND ` + notBegun + ` AND due_at"}}},
	{"a change of the schema under a job goes unseen", "./cascade", "Drift", []change{{"cascade/drift.go",
		"func (l *lease) drift(ctx context.Context) error {", "func (l *lease) drift(ctx context.Context) error {\n\tif l != nil {\n\t\treturn nil\n\t}"}}},
	{"the open job of a row is not unique", "./cascade", "EnqueueOneOpenJob|EnqueueMany", []change{{"migrations/00003_cascade.sql",
		"UNIQUE KEY one_open (resource, resource_id)", "KEY one_open (resource, resource_id)"}}},
	{"a loop of two tables passes the plan's check", "./schema", "Components|Loop|Check", []change{{"schema/scc.go",
		"if len(part) > 1 {", "if len(part) > 2 {"}}},
	{"the bytes of a key are read in lower case and digits alone", "./internal/rowkey", ".", []change{{"internal/rowkey/kind.go",
		`return "x'" + strings.ToLower(read) + "'"`, `return "x'" + strings.ToLower(strings.Trim(read, "0")) + "'"`}}},
	{"crashtest does not compare the tables after a fault", "./crashtest", "Caught|Right|Catalog", []change{{"crashtest/visit.go",
		`if f.Reason, f.Diff, err = x.compare(ctx, start); err != nil {`, `if f.Reason, f.Diff, err = x.compare(ctx, start); err != nil || p.Index > 0 {`}}},
	{"crashtest takes an interleaving for right that had a preemption", "./crashtest", "Caught|Right|Example", []change{{"crashtest/verdict.go",
		`if e.key == key {`, `if e.key == key || r.preemptions > 0 {`}}},
	{"another body under the same Idempotency-Key is answered", "./idempotency/httpkey", ".", []change{{"idempotency/httpkey/gate.go",
		"opts := []idempotency.Option{idempotency.Fingerprint(q.sum), ", "opts := []idempotency.Option{idempotency.Fingerprint([32]byte{1}), "}}},
}
