package main

// Statements that travel together.
var packetBugs = []bug{
	{"a count of rows is not proved before COMMIT", ".", "Packets", []change{{"packet.go",
		`return b.stmts[i].One && (more || i < len(b.stmts)-1)`, `return b.stmts[i].One && i < len(b.stmts)-1`}}},
	{"a caller's text of several statements is sent", ".", "Packets", []change{{"guard_packet.go",
		`return c.packets == together && several(query)`, `return c.packets == together && several(query) && query == ""`}}},
	{"what was not the last goes with COMMIT", ".", "Packets", []change{{"guard_packet.go",
		`if c.last != nil || c.pending && (prepares`, `if c.pending && (prepares`}}},
	{"a statement that fails before COMMIT leaves the transaction open", ".", "Packets", []change{{"guard_packet.go",
		`if rerr := c.text(ctx, sqlRollback); rerr != nil {`, `if rerr := c.text(ctx, "DO 0"); rerr != nil {`}}},
	{"a query's proofs are taken for its rows", ".", "Packets", []change{{"guard_packet_query.go",
		`if !b.proves(i, true) {`, `if b.proves(i, true) {`}}},
	{"marks are dropped though flags are left", "./quota", "ManyMarks", []change{{"quota/recalculate.go",
		`if !full {`, `if !full || again {`}}},
	{"a name that was taken in an old snapshot is taken", "./repo", "OldSnapshot", []change{{"repo/activate.go",
		`if taken && !tx.Joined() {`, `if taken {`}}},
	{"a create that was refused in one packet is not run apart", "./repo", "InterleaveTogether", []change{{"repo/together.go",
		`if err != nil && did &&`, `if err != nil && did && id < 0 &&`}}},
	{"a request is remembered before its row has an id", "./repo", "Together", []change{{"repo/together.go",
		`stmts = append(stmts, onerow.Stmt{Query: insertRequestMade, Args: q.args(r.res.Name)})`,
		`stmts = append([]onerow.Stmt{{Query: insertRequestMade, Args: q.args(r.res.Name)}}, stmts...)`}}},
	{"a claim in one packet is not asked for its key", "./serial", "Together", []change{{"serial/claim.go",
		`c.together, c.taken = false, mysqlerr.Classify(err) == mysqlerr.Duplicate // one by one they find out why`, `return res, err`}}},
}
