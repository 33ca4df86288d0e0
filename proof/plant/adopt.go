package main

// What can go wrong while a table with other writers becomes a resource.
var adoptBugs = []bug{
	{"a backfill writes over a rename", "./schema/adopt", "TestInterleave", []change{{"schema/adopt/page.go",
		"IN (%s) AND CAST(%s AS BINARY) = %s\"", "IN (%s) AND (CAST(%s AS BINARY) = %s OR TRUE)\""}}},
	{"a backfill moves times that move by themselves", "./schema/adopt", "TestStale|TestTaken", []change{{"schema/adopt/filler.go",
		"if c.Moves() {", "if c.Moves() && s == nil {"}}},
	{"copies are numbered before all others have their keys", "./schema/adopt", "TestCrash", []change{{"schema/adopt/backfill.go",
		"copies := o.Copies && pass > 0", "copies := o.Copies && pass >= 0"}}},
	{"an index that goes by itself is counted on", "./schema/adopt", "TestGoose", []change{{"schema/adopt/steps_index.go",
		"lasting := a.lasting(want, have)", "lasting := have"}}},
	{"a TIMESTAMP becomes the time of the session", "./schema/adopt", "TestOldWriter", []change{{"schema/adopt/files.go",
		"SESSION time_zone = '+00:00', SESSION lock_wait_timeout = 10", "SESSION lock_wait_timeout = 10"}}},
	{"the last file asks nobody", "./schema/adopt", "TestFiles", []change{{"schema/adopt/steps_last.go",
		"Refused: \"EXISTS (SELECT 1 FROM \"", "Refused: \"FALSE AND EXISTS (SELECT 1 FROM \""}}},
}
