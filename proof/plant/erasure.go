package main

// The bugs of what is found to name a person, of the certificate, and of what an operator is told.
var erasureBugs = []bug{
	{"a column that was decided on is undecided", "./schema/discover", "TestErasure", []change{{"schema/discover/erasure.go",
		"hasEdge(e.old, table, column) || e.old.Spares(table, column)", "hasEdge(e.old, table, column)"}}},
	{"a table without a key is not looked at", "./schema/discover", "TestErasure", []change{{"schema/discover/erasure.go",
		"t.IsTable() && !shape.IsToolkits(name)", "t.IsTable() && t.Primary() != nil && !shape.IsToolkits(name)"}}},
	{"a column is not known by its values", "./schema/discover", "TestErasure", []change{{"schema/discover/erasure.go",
		"values < 3 || 10*there < 9*values:", "values < 3 || 10*there <= 10*values:"}}},
	{"a small number is taken for a person", "./schema/discover", "TestErasureByChance", []change{{"schema/discover/erasure.go",
		"return span > 100*rows && rows > 0, err", "return span > 0 && rows > 0, err"}}},
	{"nobody looks into a document", "./schema/discover", "TestErasure", []change{{"schema/discover/erasure.go",
		"	case n == 0:\n", "	case n >= 0:\n"}}},
	{"what goes with a person is not looked below", "./schema/discover", "TestErasure", []change{{"schema/discover/erasure.go",
		"if goes && !slices.Contains(reached, n.Name) {", "if !goes && !slices.Contains(reached, n.Name) {"}}},
	{"an erasure is full while rows are left", "./cascade/command", "TestCertificate", []change{{"cascade/command/internal/erasure/certificate.go",
		"d.Left = left[n.Name]; d.Left > 0 {", "d.Left = left[n.Name]; d.Left < 0 {"}}},
	{"an erasure is full while its rows are in the trash", "./cascade/command", "TestCertificate", []change{{"cascade/command/internal/erasure/certificate.go",
		"for _, k := range c.Trash {", "for _, k := range c.Trash[:0] {"}}},
	{"a certificate exits with 0 whatever is open", "./cascade/command", "TestCertificate", []change{{"cascade/command/internal/erasure/certificate.go",
		"if err == nil && len(c.Open) > 0 {\n		err = shell.ErrReported", "if err == nil && len(c.Open) < 0 {\n		err = shell.ErrReported"}}},
	{"the doctor does not see a dead job", "./cascade/command", "TestDoctor", []change{{"cascade/command/internal/tables/doctor.go", "{queue.Dead, ", "{queue.Scheduled, "}}},
	{"the doctor calls a patient well", "./cascade/command", "TestDoctor", []change{{"cascade/command/internal/tables/doctor.go",
		"	if len(x.found) > 0 {\n		return errors.Join", "	if len(x.found) > 99 {\n		return errors.Join"}}},
}
