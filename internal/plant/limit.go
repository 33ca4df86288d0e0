package main

// Bugs of package limit and of what calls it.
var limitBugs = []bug{
	{"room is taken without a guard", "./limit", "TestVerbs|TestNeverOver", []change{{"limit/take.go", "stripe = ? AND room >= ?`", "stripe = ? AND room >= ? - 1`"}}},
	{"room is dealt that nobody has locked", "./limit", "TestNeverOver|TestInterleave", []change{{"limit/count.go", "ORDER BY stripe FOR UPDATE`", "ORDER BY stripe`"}}},
	{"room that was given before the first count is there", "./limit", "TestInterleave|TestSurvivesFaults|TestCosts", []change{{"limit/take.go",
		"sqlGiveFirst, r.name, []byte(o.key), unknown, amount)", "sqlGiveFirst, r.name, []byte(o.key), amount, amount)"}}},
	{"a hidden row gives its room back", "./limit", "TestVerbs", []change{{"repo/delete.go", "err != nil || keep || r.res.Asset", "err != nil || r.res.Asset"}}},
	{"what a deletion hid takes room when it comes back", "./limit", "TestVerbs", []change{{"repo/activate.go", "err != nil || b.held.deletionID != 0 {", "err != nil {"}}},
	{"archiving gives nothing back", "./limit", "TestVerbs", []change{{"repo/archive.go", "return r.give(ctx, tx, &h)", "return nil"}}},
	{"hidden rows are not counted", "./limit", "TestNeverOver|TestCascade", []change{{"limit/use.go", "deletion_id IS NOT NULL AND deleted_from = 'active'{lock}", "deletion_id < 0 AND deleted_from = 'active'{lock}"}}},
	{"reservations are not counted", "./limit", "TestReservations|TestNeverOver", []change{{"limit/use.go", "return u.active + u.hidden + u.reserved", "return u.active + u.hidden"}}},
	{"a reservation is used and stays", "./limit", "TestReservations", []change{{"limit/reserve.go",
		"	n, err := onerow.Affected(ctx, tx, sqlUse, append(id, amount)...)\n	if err != nil || n == 1 {", "	n, err := onerow.Affected(ctx, tx, sqlUse+\" AND amount < 0\", append(id, amount)...)\n	if err != nil || n == 1 || amount == 20 {"}}},
	{"a sweep ends a reservation that lasts longer by now", "./limit", "TestInterleave", []change{{"limit/reserve.go",
		"onerow.Affected(ctx, tx, sqlUse+condition, append(id, held)...)", "onerow.Affected(ctx, tx, sqlUse, append(id, held)...)"}}},
	{"room is lost where it is dealt", "./limit", "TestSpread|TestNeverOver", []change{{"limit/count.go", "first -= (stripes - 1) * each", "first -= stripes * each"}}},
	{"a worker notes nothing for a limit", "./limit", "TestCascade", []change{{"cascade/internal/work/owners.go", "for _, l := range t.Node.Limits {", "for _, l := range t.Node.Limits[:0] {"}}},
	{"a new maximum is not taken over", "./limit", "TestVerbs", []change{{"limit/count.go", "l.room += maximum - l.maximum\n", ""}}},
	{"a failing owner is not put behind the others", "./limit", "TestSweep", []change{{"limit/sweep.go", "errs = append(errs, err, Again(ctx, s.db, r.name, key))", "errs = append(errs, err)"}}},
	{"two spellings of an owner share a count", "./limit", "TestTenants", []change{{"limit/use.go", "if types[i].Class == keytype.Text {", "if types[i].Class == keytype.Bytes {"},
		{"limit/use.go", "if text, isText := value.(string); isText {", "if text, isText := value.([]string); isText {"}, {"limit/use.go", "[]byte(text)", "text"}}},
}
