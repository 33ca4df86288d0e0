package main

// The bugs of lists with filters and sort orders.
var listBugs = []bug{
	{"a page skips rows with the value of the last one", "./repo", "TestListSorted", []change{{"repo/list_query.go",
		`where.and("("+sort+beyond+value+" OR "+sort+" = "+value+" AND "+id+beyond+"?)", args...)`, `where.and("("+sort+beyond+value+" OR "+sort+" = "+value+" AND "+id+beyond+"? AND FALSE)", args...)`}}},
	{"behind the values of a descending list nobody finds NULL", "./repo", "TestListSorted", []change{{"repo/list_query.go",
		`" OR "+sort+" IS NULL OR "`, `" OR "`}}},
	{"a text of a cursor passes through the session's character set", "./repo", "TestListSorted", []change{{"repo/list_column.go",
		`return keytype.Literal(text), nil`, `return "?", []any{text}`}}},
	{"a DECIMAL is compared as a floating-point number", "./repo", "TestListRanges|TestListSorted", []change{{"repo/list_column.go",
		`return "CAST(? AS DECIMAL(65," + strconv.Itoa(len(fraction)) + "))", []any{value}`, `return "(? + 0E0 + " + strconv.Itoa(0*len(fraction)) + ")", []any{value}`}}},
	{"a cursor is good for lists with other filters", "./repo", "TestListCursors", []change{{"repo/cursor.go",
		`fmt.Sprintf("%T %v", f.value, f.value)`, `""`}}},
	{"archived rows are listed with those that a deletion hides", "./repo", "TestListSorted", []change{{"repo/list_query.go",
		`where.and("deletion_id IS NULL")`, `where.and("(deletion_id IS NULL OR TRUE)")`}}},
	{"MariaDB may take any index for a list", "./repo", "TestListCosts", []change{{"repo/list_query.go",
		`" /*M! FORCE INDEX ("`, `" /* FORCE INDEX ("`}}},
	{"an index of the archive has hidden rows among the others", "./schema", "TestListIndex", []change{{"schema/lists.go",
		`min(len(r.Owners()), len(x.Columns)), ident.ColDeletionID)`, `len(x.Columns), ident.ColDeletionID)`}}},
	{"an index that descends in part is good for lists", "./schema/live", "TestVerifyListIndex", []change{{"schema/internal/dict/index.go",
		`(n < 2 || have.Descending[n-1] == have.Descending[n-2])`, `(n < 2 || have.Descending[n-1] == have.Descending[n-2] || true)`}}},
}
