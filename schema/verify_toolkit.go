package schema

import "fmt"

// toolkitTable is a table of package migrations: what the toolkit's statements
// rely on. A test holds it against the migrations.
type toolkitTable struct {
	name    string
	columns []wantColumn
	indexes []tableIndex
}

func number(name string) wantColumn {
	return wantColumn{name: name, ddl: "BIGINT NOT NULL", is: integer, min: 8}
}

func octets(name string, min int64) wantColumn {
	return wantColumn{name: name, ddl: fmt.Sprintf("VARBINARY(%d) NOT NULL", min), is: variableBytes, min: min}
}

func moment(name string) wantColumn {
	return wantColumn{name: name, ddl: "DATETIME(6) NOT NULL", is: utcTime}
}

func fixed(name string, min int64) wantColumn {
	return wantColumn{name: name, ddl: fmt.Sprintf("BINARY(%d) NOT NULL", min), is: fixedBytes, min: min}
}

func (c wantColumn) null() wantColumn {
	c.ddl = c.ddl[:len(c.ddl)-len("NOT NULL")] + "NULL"
	return c
}

func (c wantColumn) auto() wantColumn {
	c.ddl += " AUTO_INCREMENT"
	return c
}

func primary(columns ...string) tableIndex { return tableIndex{columns: columns, unique: true} }

func unique(name string, columns ...string) tableIndex {
	return tableIndex{name: name, columns: columns, unique: true}
}

func index(name string, columns ...string) tableIndex {
	return tableIndex{name: name, columns: columns}
}

func toolkitTables() []toolkitTable {
	job := []wantColumn{
		octets("resource", 64), octets("resource_id", 512), number("deletion_id"), octets("state", 16), moment("due_at"), number("token"),
		{name: "worker", ddl: "VARCHAR(255) NULL", is: characters, min: 255}, number("batch_seq"),
		{name: "failures", ddl: "INT NOT NULL", is: integer, min: 4}, {name: "last_error", ddl: "TEXT NULL", is: characters, min: 1000},
		moment("created_at"), moment("started_at").null(),
	}
	return []toolkitTable{
		{"onerow_request", []wantColumn{
			octets("resource", 64), octets("owner", 512), octets("request_id", 255), octets("row_id", 512).null(),
			fixed("fingerprint", 32), fixed("call_token", 16), moment("created_at"),
		}, []tableIndex{primary("resource", "owner", "request_id"), index("created_at", "created_at")}},
		{"onerow_quota_mark", []wantColumn{
			number("id").auto(), octets("resource", 64), octets("owner", 512), moment("created_at"),
		}, []tableIndex{primary("id"), index("owner", "resource", "owner", "id")}},
		{"onerow_quota_owner", []wantColumn{
			octets("resource", 64), octets("owner", 512), number("generation"), moment("changed_at"),
		}, []tableIndex{primary("resource", "owner"), index("changed_at", "resource", "changed_at")}},
		{"onerow_deletion", []wantColumn{
			number("id").auto(), octets("resource", 64), octets("resource_id", 512), octets("owner", 512).null(),
			octets("deleted_from", 8), number("grace_us"), moment("requested_at"),
		}, []tableIndex{primary("id"), index("resource", "resource", "resource_id")}},
		{"onerow_job", append([]wantColumn{number("id").auto()}, job...), []tableIndex{
			primary("id"), unique("one_open", "resource", "resource_id"), index("due_at", "due_at", "id"),
		}},
		{"onerow_job_archive", append([]wantColumn{number("id"), moment("finished_at")}, job...), []tableIndex{
			primary("id"), index("resource", "resource", "resource_id", "id"), index("finished_at", "finished_at"),
		}},
		{"onerow_job_count", []wantColumn{number("job_id"), octets("table_name", 256), number("deleted_rows")},
			[]tableIndex{primary("job_id", "table_name")}},
	}
}
