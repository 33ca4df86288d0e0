package main

// The bugs of rows that move to another owner or parent.
var moveBugs = []bug{
	{"a row leaves a deletion further above", "./repo", "TestMoveRefused", []change{{"repo/move_tree.go",
		"for level, a := range r.ancestors {\n", "for level, a := range r.ancestors[:1] {\n"}}},
	{"a row is moved while one further above is deleted", "./repo", "TestMoveInterleave", []change{{"repo/parent.go",
		`locks := []rowLock{rowLockOf(res, res.Active, up, condition)}`, `locks := []rowLock{{read: "SELECT " + up + " FROM " + ident.Quote(res.Active) + " WHERE " + condition}}`}}},
	{"a child writes no guard in a plan for a cluster", "./repo", "TestGuard", []change{{"repo/parent.go",
		`if g.write != "" {`, `if g.write != "" && up == nil {`}}},
	{"a move does not ask for jobs", "./repo", "TestMoveOfOperators", []change{{"repo/move_tree.go",
		"return r.noOpenJob(ctx, tx, jobs)", "return r.noOpenJob(ctx, tx, jobs[:1])"}}},
	{"a worker walks before what moves has moved", "./cascade", "TestMovedAway", []change{{"cascade/internal/work/refuse.go",
		`FROM %[3]s AS t WHERE %[4]s FOR UPDATE"`, `FROM %[3]s AS t WHERE %[4]s"`}}},
	{"a row is deleted that is no longer where it was found", "./cascade", "TestMovedAway", []change{{"cascade/internal/work/batch.go",
		"v.Edge == was.Edge && v.Asset", "v.Asset"}}},
	{"the owner who loses a row is not marked", "./repo", "TestMove$|TestMoveInterleave", []change{{"repo/move.go",
		"return r.mark(ctx, tx, h.owner, m.to.owner)", "return r.mark(ctx, tx, m.to.owner)"}}},
	{"a moved row takes nothing of its new owner's limit", "./limit", "TestMove", []change{{"repo/move.go", "if err := r.handOver(ctx, tx, &h, m.to.owner); err != nil {", "if h.owner == nil {\n\t\tvar err error"}}},
	{"a free name is looked for at the old owner", "./repo", "TestMove$", []change{{"repo/move.go",
		"owner: m.to.owner, columns", "owner: h.owner, columns"}}},
	{"a hidden row is moved", "./repo", "TestMoveArchived", []change{{"repo/move.go", "found = found && h.deletionID == 0", "found = found && h.deletionID >= 0"},
		{"repo/move.go", "{setHome}{touch} WHERE {byID} AND version = ?` + shown", "{setHome}{touch} WHERE {byID} AND version = ?`"}}},
	{"a scoped repository gives rows away", "./repo", "TestMoveRefused|TestShapes", []change{{"repo/move.go",
		"if err := r.forOwner(m.to.owner); err != nil {", "if err := r.forOwner(h.owner); err != nil {"}}},
	{"a grandchild that stores the owner is not seen", "./repo", "TestMoveStored", []change{{"repo/move_tree.go",
		"under[n.Name] = under[n.Name] || below(n)", "under[n.Name+\"?\"] = below(n)"}}},
}
