package main

// recipeBugs change what a recipe of the cookbook shows: it must have been run, and be as it says.
var recipeBugs = []bug{
	{"a recipe's naive code is right", "./cookbook/r31_archive_once", "TestRecipe31/naive", []change{{"cookbook/r31_archive_once/naive.go",
		`version FROM project WHERE id = 1")`, `version FROM project WHERE id = 1 FOR UPDATE")`}}},
	{"a recipe's solution breaks", "./cookbook/r31_archive_once", "TestRecipe31/solution", []change{{"cookbook/r31_archive_once/solution.go",
		`WHERE id = 1 FOR UPDATE")`, `WHERE id = 1")`}}},
	{"a recipe's schedule was changed by hand", "./cookbook/r31_archive_once", "TestRecipe31/naive", []change{
		{"cookbook/r31_archive_once/trace.mariadb.txt", "  5  COMMIT ", "  5  commit "},
		{"cookbook/r31_archive_once/trace.mysql.txt", "  5  COMMIT ", "  5  commit "}}},
	{"a recipe's picture was changed by hand", "./cookbook/r31_archive_once", "TestRecipe31/naive", []change{
		{"cookbook/r31_archive_once/trace.mariadb.svg", ">COMMIT<", ">commit<"},
		{"cookbook/r31_archive_once/trace.mysql.svg", ">COMMIT<", ">commit<"}}},
	{"a recipe's page shows other code than was compiled", "./cookbook/r31_archive_once", "TestRecipe31/page", []change{{"cookbook/r31_archive_once/README.md",
		"// Rename is what another user does meanwhile.", "// Rename is what another user does."}}},
	{"a recipe's SQL says another answer than the server", "./cookbook/r31_archive_once", "TestRecipe31/sql", []change{{"cookbook/r31_archive_once/solution.sql",
		"-- B: waits", "-- B: 1 row"}}},
	{"a recipe's table says another outcome", "./cookbook/r31_archive_once", "TestRecipe31/naive", []change{
		{"cookbook/r31_archive_once/recipe_test.go", "MariaDB10: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Refused", "MariaDB10: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Holds"},
		{"cookbook/r31_archive_once/recipe_test.go", "MySQL:     [3]kitchen.Outcome{kitchen.Breaks, kitchen.Holds", "MySQL:     [3]kitchen.Outcome{kitchen.Breaks, kitchen.Refused"}}},
	{"a crash of a recipe leaves something else", "./cookbook/r31_archive_once", "TestRecipe31/crash", []change{{"cookbook/r31_archive_once/crash.txt",
		"after 5 COMMIT                                     | project_archive: 1", "after 5 COMMIT                                     | project: 1        "}}},
	{"a recipe costs something else", "./cookbook/r31_archive_once", "TestRecipe31/cost", []change{
		{"cookbook/r31_archive_once/cost.mariadb.txt", "onerow   |           3", "onerow   |           4"},
		{"cookbook/r31_archive_once/cost.mysql.txt", "onerow   |           3", "onerow   |           4"}}},
}
