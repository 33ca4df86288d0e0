package main

// The bugs of what is printed for people to run or to take into their plans.
var proposedBugs = []bug{
	{"a trash table has a column twice", "./schema/live", "TestTrashTooMuch", []change{{"schema/internal/dict/trash.go",
		"if colset.Has(columns[:own], f.Name) {", "if colset.Has(columns[:own], f.Name) && own == 0 {"}}},
	{"a trash table has more columns than InnoDB takes", "./schema/live", "TestTrashTooMuch", []change{{"schema/internal/dict/trash.go",
		"mostColumns    = 1017\n", "mostColumns    = 1020\n"}}},
	{"a trash table has a key of more columns than MySQL takes", "./schema/live", "TestTrashTooMuch", []change{{"schema/internal/dict/trash.go",
		"mostKeyColumns = 16\n", "mostKeyColumns = 18\n"}}},
	{"a trash table has a wider key than InnoDB takes", "./schema/live", "TestTrashTooMuch", []change{{"schema/internal/dict/trash.go",
		"case bytes > mostKeyBytes:", "case bytes-16 > mostKeyBytes:"}}},
	{"ddl prints a trash table that no server takes", "./schema/live", "TestTrashTooMuch", []change{{"schema/catalog/trash.go",
		"if problem := have.TrashProblem(kept); problem != \"\" {", "if problem := have.TrashProblem(kept); problem != \"\" && c == nil {"}}},
	{"verify sends people to a trash table that cannot be made", "./schema/live", "TestTrashTooMuch", []change{{"schema/internal/verify/trash.go",
		"if problem := have.TrashProblem(kept); trash == nil && problem != \"\" {", "if problem := have.TrashProblem(kept); trash != nil && problem != \"\" {"}}},
	{"a worker sends people to a trash table that cannot be made", "./schema/live", "TestTrashTooMuch", []change{{"schema/catalog/trash.go",
		"case trash == nil && problem != \"\":", "case trash != nil && problem != \"\":"}}},
	{"goose does not take what ddl prints", "./cascade/command", "TestDDLIsAMigration", []change{{"cascade/command/internal/tables/migrate.go",
		"const GooseUp = \"-- +goose Up\\n\"", "const GooseUp = \"-- goose Up\\n\""}}},
	{"an edge that deletes is proposed for rows that stay", "./schema/discover", "TestDiscoverStays", []change{{"schema/discover/guess.go",
		"if planned[t.Name] && stays[t.Name] {", "if !planned[t.Name] && stays[t.Name] {"}}},
	{"a type and an id beside it are not named", "./schema/discover", "TestDiscoverPolymorphic", []change{{"schema/discover/notes.go",
		"\td.polymorphic(p)\n", ""}}},
	{"a type and an id are named that the plan knows", "./schema/discover", "TestDiscoverPolymorphic", []change{{"schema/discover/notes.go",
		"d.constrained(t.Name, c.Name) || hasEdge(p, t.Name, c.Name) {", "d.constrained(t.Name, c.Name) || hasEdge(p, t.Name, c.Name) && len(pairs) > 9 {"}}},
}
