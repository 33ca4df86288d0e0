package main

// The bugs of what looks before anything is deleted.
var inspectBugs = []bug{
	{"a key whose index goes on with what may be NULL is believed", "./cascade/inspect", "OrphansDespite", []change{{"cascade/internal/graph/edge.go",
		" && !indexes.widened(cat, t.Name, declared.Columns)", ""}}},
	{"a key to the own table that shares a column is believed", "./cascade/inspect", "OrphansDespite", []change{{"cascade/internal/graph/edge.go",
		"!sharesOwn && !indexes", "(!sharesOwn || s.Bound) && !indexes"}}},
	{"the dry run does not see a loop at which the job fails", "./cascade/inspect", "TestDryRunLoop", []change{{"cascade/inspect/dryrun.go",
		"e.Loops, err = d.loops()", "_, err = d.loops()"}}},
	{"the dry run takes a row below itself alone for a loop", "./cascade/inspect", "TestDryRunLoop", []change{{"cascade/inspect/dryrun_walk.go",
		"err == nil && (parent != row.Key || s.Bound) {", "err == nil {"}}},
}
