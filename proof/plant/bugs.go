package main

import "slices"

// bugs are those of all files.
var bugs = slices.Concat(floorBugs, cascadeBugs, inspectBugs, zoneBugs, edgeBugs, pageBugs, limitBugs, retentionBugs, togetherBugs, packetBugs, listBugs, moveBugs, adoptBugs, restoreBugs, erasureBugs, proposedBugs, recipeBugs, traceBugs)

// The bugs, floor by floor.
var floorBugs = []bug{
	{"an unknown COMMIT is run again", ".", "TestInTxUnderFaults", []change{{"tx.go",
		`again: (Retryable(err) || token && unknown)`,
		`again: (Retryable(err) || unknown)`}}},
	{"a poisoned transaction goes on in autocommit", ".", "TestSavepointInAGroup|TestTimeoutPoisons", []change{{"poison.go",
		`if first := tx.poison.Load(); first != nil {`,
		`if first := tx.poison.Load(); first != nil && false {`}}},
	{"a lock wait timeout at COMMIT leaves the outcome unknown", "./internal/mysqlerr", "TestClassify", []change{{"internal/mysqlerr/mysqlerr.go",
		`[]Class{RolledBack, TimedOut, NotHere, NotSent}`, `[]Class{RolledBack, NotHere, NotSent}`}}},

	{"upper and lower case are two names", "./names", "TestParseAndCopy", []change{{"names/normalize.go",
		`c += 'a' - 'A'`, `c += 0`}}},
	{"any index will do for a unique one", "./schema/live", "TestVerifyNamesEachDifference", []change{{"schema/internal/dict/index.go",
		`if have.Unique && colset.Same(have.Columns, want) {`, `if colset.Same(have.Columns, want) {`}}},

	{"the archive's DELETE without the row's version and count", "./repo", "TestInterleave$/./archive", []change{
		{"repo/rows.go", "`DELETE FROM {table} WHERE {byID} AND version = ?`", "`DELETE FROM {table} WHERE {byID} AND version > ? - version - 1`"},
		{"repo/rows.go", "{keys} FROM {active} WHERE {byID} FOR UPDATE`", "{keys} FROM {active} WHERE {byID}`"},
		{"repo/rows.go", "` FROM {archive} WHERE {byID} FOR UPDATE`", "` FROM {archive} WHERE {byID}`"},
		{"repo/archive.go", `if err == nil && (!found || now.twin) {`, `if err == nil && !found {`}}},
	{"the cascade is queued in a transaction after the delete's commit", "./repo", "TestCrash$/./^delete$", []change{
		{"repo/delete.go", "\tjob, err := queue.Enqueue(ctx, tx, d)\n\tif err != nil {\n\t\treturn res, fmt.Errorf(\"the cascade", "\tjob := queue.Job{DeletionID: d.ID}\n\tif err != nil {\n\t\treturn res, fmt.Errorf(\"the cascade"},
		{"repo/delete.go", "\treturn r.run(ctx, db, c, func(", "\tres, err := r.run(ctx, db, c, func("},
		{"repo/delete.go", "\t\treturn r.deleteTx(ctx, tx, h, c.id, o)\n\t})\n",
			"\t\treturn r.deleteTx(ctx, tx, h, c.id, o)\n\t})\n\tif err == nil && res.changed {\n" +
				"\t\tjob, qerr := queue.Enqueue(ctx, db, queue.Deletion{ID: res.deletionID, Resource: r.res.Name, ResourceID: fmt.Sprint(id), Grace: o.grace})\n" +
				"\t\tres.jobID, err = job.ID, qerr\n\t}\n\treturn res, err\n"}}},
	{"a child is created without the lock on its parent", "./repo", "Parent", []change{{"repo/parent.go",
		`g.read += " LOCK IN SHARE MODE"`, `g.read += ""`}}},
	{"a request id that was used is not asked for its row", "./repo", "TestRequestID|TestOneRequest", []change{{"repo/insert.go",
		"if mysqlerr.Classify(err) == mysqlerr.Duplicate {\n\t\t\treturn r.replay", "if mysqlerr.Classify(err) == mysqlerr.Duplicate && w.request.id == \"\" {\n\t\t\treturn r.replay"}}},

	{"a create whose answer was lost, and whose time is over, did nothing", "./repo", "TestLostAndEnded", []change{{"repo/insert.go",
		"packet.KeepUnknown(ctx, first, err)", "packet.KeepUnknown(ctx, nil, err)"}, {"repo/insert.go", "first := err", "_ = err"}}},
	{"a claim whose answer was lost, and whose time is over, took nothing", "./serial", "TestLostAndEnded", []change{{"serial/claim.go",
		"packet.KeepUnknown(ctx, err, onerow", "packet.KeepUnknown(ctx, nil, onerow"}}},
	{"quota marks are deleted up to the last that was read", "./quota", "TestCosts$", []change{{"quota/mark.go",
		`FORCE INDEX (PRIMARY) ON m.id = ids.id`, `FORCE INDEX (PRIMARY) ON m.id <= ids.id`}}},
	{"a recalculation does not lock the owner's generation", "./quota", "TestCosts$", []change{{"quota/recalculate.go",
		`if s.generation, marks, err = r.bump(ctx, tx, o); err != nil {`, `if s.generation, err = r.generation(ctx, tx, o); err != nil {`}}},

	{"a completion does not check the lease token", "./idempotency", "TestStatements", []change{{"idempotency/finish.go",
		"const held = atKey + ` AND token = ? AND status = 'in_progress'`", "const held = atKey + ` AND token > ? - token AND status = 'in_progress'`"}}},
	{"a completion is unconditional", "./idempotency", "TestStatements", []change{{"idempotency/finish.go",
		"const held = atKey + ` AND token = ? AND status = 'in_progress'`", "const held = atKey + ` AND token > ? - token`"}}},
	{"a free key is claimed whatever it has become", "./idempotency", "TestCrash$", []change{{"idempotency/do.go",
		"lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, traceparent = ?, completed_at = NULL, expires_at = NULL, codec = NULL, is_reference = 0, result = NULL, error = NULL` +\n\tatKey + ` AND token = ? AND version = ?`",
		"lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, traceparent = ?, completed_at = NULL, expires_at = NULL, codec = NULL, is_reference = 0, result = NULL, error = NULL` +\n\tatKey + ` AND token > ? - token AND version > ? - version`"}}},

	{"an old run of a flow may write", "./flow", "TestLife|TestConditionalWrites|TestSupersedeWaits", []change{{"flow/prove.go",
		"const sqlProve = `UPDATE onerow_flow SET version = version + 1 WHERE flow = ? AND stage = ? AND request_id = ?`",
		"const sqlProve = `UPDATE onerow_flow SET version = version + 1 WHERE flow = ? AND stage = ? AND request_id <> CONCAT(?, '-')`"}}},
	{"a step's second answer overwrites the first", "./flow", "TestSteps", []change{{"flow/step.go",
		"WHERE step_id = ? AND answered_at IS NULL`", "WHERE step_id = ?`"}}},

	{"a stream's context is read without its lock", "./ordering", "TestOldSnapshot", []change{{"ordering/apply.go",
		"WHERE consumer = ? AND stream = ? FOR UPDATE`", "WHERE consumer = ? AND stream = ?`"}}},
	{"an update with the same time adds again", "./ordering", "TestByTime$", []change{{"ordering/bytime.go",
		`" IS NULL OR " + column + " < " + g.time() + ")"`, `" IS NULL OR " + column + " <= " + g.time() + ")"`}}},

	{"the same claim key draws numbers again", "./serial", "TestClaim$", []change{{"serial/claim.go",
		`return c.replay(ctx, tx)`, `return c.drawn(ctx, tx, packet.ExecAll(ctx, tx, c.draw()...))`},
		{"serial/claim.go", "WHERE series = ? AND claim_key = ? AND from_no IS NULL`", "WHERE series = ? AND claim_key = ?`"}}},
	{"a series' counter moves outside of the transaction", "./serial", "TestClaim$|TestSurvivesFaults$", []change{
		{"serial/claim.go", "c := &call{s: s,", `c := &call{pool: db, s: s,`},
		{"serial/claim.go", "type call struct {", "type call struct {\n\tpool onerow.DB"},
		{"serial/claim.go", "err := packet.ExecAll(ctx, tx, append([]onerow.Stmt{insert}, c.draw()...)...)",
			"if _, err := c.pool.ExecContext(ctx, \"INSERT INTO onerow_serial (series, first_no, next_no) VALUES (?, ?, ? + ?) ON DUPLICATE KEY UPDATE next_no = next_no + ?\", c.s.name, c.s.first, c.s.first, c.amount, c.amount); err != nil {\n\t\treturn c.res, err\n\t}\n\t" +
				"err := packet.ExecAll(ctx, tx, append([]onerow.Stmt{insert}, c.draw()...)...)"}}},
}
