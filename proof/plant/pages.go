package main

// The bugs of pages: what is behind the last item of a page, and where the next one begins.
var pageBugs = []bug{
	{"a page of rows does not say that there is more", "./repo", "Pages", []change{{"repo/list.go", "r.pageSQL(l, after, limit+1, force)", "r.pageSQL(l, after, limit, force)"}}},
	{"a page of rows passes through a float", "./repo", "Pages", []change{{"repo/cursor.go",
		"key, err := onerow.EncodeKey(id)\n", "if n, isInt := id.(int64); isInt {\n\t\tid = int64(float64(n))\n\t}\n\tkey, err := onerow.EncodeKey(id)\n"}}},
	{"a page of keys begins behind all of its operation", "./idempotency/keyadmin", "Pages", []change{{"idempotency/keyadmin/list.go",
		"operation = ? AND idem_key > ?)", "operation = ? AND idem_key > ? AND FALSE)"}}},
	{"a page of keys repeats the last one", "./idempotency/keyadmin", "Pages", []change{{"idempotency/keyadmin/list.go",
		"operation = ? AND idem_key > ?)", "operation = ? AND idem_key >= ?)"}}},
	{"owners that changed at one time are looked at up to a page", "./quota", "Pages", []change{{"quota/sweep.go",
		"INTERVAL ? MICROSECOND AND owner > ?)", "INTERVAL ? MICROSECOND AND owner > ? AND FALSE)"}}},
	{"a page of series repeats the last one", "./serial", "Pages", []change{{"serial/list.go", "WHERE series > ? ORDER BY", "WHERE series >= ? ORDER BY"}}},
	{"a page of dead letters repeats the last one", "./ordering", "Pages", []change{{"ordering/dead_letter.go", "AND id > ? ORDER BY", "AND id >= ? ORDER BY"}}},
	{"a page of jobs loses one of the archive", "./cascade", "Pages", []change{{"cascade/queue/list.go",
		"UNION ALL (` + archiveColumns + ` WHERE j.id < ?", "UNION ALL (` + archiveColumns + ` WHERE j.id + 1 < ?"}}},
	{"a page of the jobs of a state repeats the last one", "./cascade", "Pages", []change{{"cascade/queue/list.go",
		"FORCE INDEX (state) WHERE j.id < ?", "FORCE INDEX (state) WHERE j.id <= ?"}}},
	{"a page of parked rows repeats the last one", "./cascade", "Pages", []change{{"cascade/queue/parked.go", "WHERE p.id < ?`", "WHERE p.id <= ?`"}}},
}
