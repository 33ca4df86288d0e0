package main

// The bugs of what looks before anything is deleted.
var inspectBugs = []bug{
	{"a key whose index goes on with what may be NULL is believed", "./cascade/inspect", "OrphansDespite", []change{{"cascade/internal/graph/edge.go",
		" && !indexes.widened(cat, t.Name, declared.Columns)", ""}}},
	{"a key to the own table that shares a column is believed", "./cascade/inspect", "OrphansDespite", []change{{"cascade/internal/graph/edge.go",
		"s.Bound && !e.sharesOwn() && ", "s.Bound && "}}},
}
