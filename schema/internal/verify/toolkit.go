package schema

import (
	"fmt"
	"slices"
)

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

const (
	decides = "it decides which of two callers wins"
	goesBy  = "the toolkit's statements go by it"
)

func primary(columns ...string) tableIndex {
	return tableIndex{columns: columns, unique: true, why: decides}
}

func unique(name string, columns ...string) tableIndex {
	return tableIndex{name: name, columns: columns, unique: true, why: decides}
}

func index(name string, columns ...string) tableIndex {
	return tableIndex{name: name, columns: columns, why: goesBy}
}

func prose(name, ddl string, min int64) wantColumn {
	return wantColumn{name: name, ddl: ddl, is: characters, min: min}
}

func flag(name string) wantColumn {
	return wantColumn{name: name, ddl: "TINYINT NOT NULL", is: integer, min: 1}
}

// blob holds up to 16 MiB; its type matters little, for no index is on it.
func blob(name string) wantColumn { return wantColumn{name: name, ddl: "MEDIUMBLOB NULL", is: anyType} }

// toolkitTables are the tables of package migrations, by workflow.
func toolkitTables() []toolkitTable {
	return slices.Concat(requestTables(), limitTables(), cascadeTables(), keyTables(), serialTables(), orderingTables(), flowTables())
}

// absent begins what is said of a table that is not there.
const absent = "it does not exist"

// IsToolkit says whether a table is one of package migrations.
func IsToolkit(table string) bool {
	return slices.ContainsFunc(toolkitTables(), func(t toolkitTable) bool { return t.name == table })
}

func requestTables() []toolkitTable {
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
	}
}

func limitTables() []toolkitTable {
	return []toolkitTable{
		{"onerow_limit", []wantColumn{
			octets("name", 64), octets("owner", 512), {name: "stripe", ddl: "INT NOT NULL", is: integer, min: 4}, number("room"), number("maximum"),
			number("version"), moment("counted_at").null(),
		}, []tableIndex{primary("name", "owner", "stripe"), index("counted_at", "name", "counted_at")}},
		{"onerow_reservation", []wantColumn{
			octets("name", 64), octets("owner", 512), octets("reservation_key", 255), number("amount"), moment("expires_at"),
		}, []tableIndex{primary("name", "owner", "reservation_key"), index("expires_at", "name", "expires_at")}},
	}
}

func cascadeTables() []toolkitTable {
	job := []wantColumn{
		octets("resource", 64), octets("resource_id", 512), number("deletion_id"), octets("state", 16), moment("due_at"), number("token"),
		prose("worker", "VARCHAR(255) NULL", 255), number("batch_seq"),
		{name: "failures", ddl: "INT NOT NULL", is: integer, min: 4}, prose("last_error", "TEXT NULL", 1000),
		moment("created_at"), moment("started_at").null(),
	}
	return []toolkitTable{
		{"onerow_deletion", []wantColumn{
			number("id").auto(), octets("resource", 64), octets("resource_id", 512), octets("owner", 512).null(),
			octets("deleted_from", 8), number("grace_us"), moment("requested_at"),
		}, []tableIndex{primary("id"), index("resource", "resource", "resource_id")}},
		{"onerow_job", append([]wantColumn{number("id").auto()}, job...), []tableIndex{
			primary("id"), unique("one_open", "resource", "resource_id"), index("due", "resource", "due_at", "state"),
			index("state", "state", "id"),
		}},
		{"onerow_job_archive", append([]wantColumn{number("id"), moment("finished_at")}, job...), []tableIndex{
			primary("id"), index("resource", "resource", "resource_id", "id"), index("finished_at", "finished_at"),
			index("state", "state", "id"),
		}},
		{"onerow_job_count", []wantColumn{number("job_id"), octets("table_name", 256), number("deleted_rows")},
			[]tableIndex{primary("job_id", "table_name")}},
		{"onerow_job_plan", []wantColumn{number("job_id"), octets("fingerprint", 64), moment("stored_at")}, []tableIndex{primary("job_id")}},
		{"onerow_job_detached", []wantColumn{number("job_id"), octets("table_name", 256), number("detached_rows")},
			[]tableIndex{primary("job_id", "table_name")}},
		{"onerow_parked", []wantColumn{
			number("id").auto(), number("job_id"), octets("table_name", 256), octets("row_key", 512), prose("error", "TEXT NOT NULL", 1000),
			octets("state", 16), number("version"), moment("parked_at"),
		}, []tableIndex{primary("id"), unique("one_row", "job_id", "table_name", "row_key"), index("state", "state", "id")}},
		{"onerow_action", []wantColumn{
			number("id").auto(), octets("action", 16), octets("resource", 64).null(), octets("resource_id", 512).null(), number("deletion_id").null(), number("job_id").null(),
			octets("table_name", 256).null(), octets("row_key", 512).null(), prose("actor", "VARCHAR(255) NOT NULL", 255), prose("reason", "TEXT NOT NULL", 1000), moment("acted_at"),
		}, []tableIndex{primary("id"), index("deletion", "deletion_id", "id"), index("job", "job_id", "id"), index("acted_at", "acted_at")}},
		{"onerow_trash", []wantColumn{
			number("job_id"), number("step"), octets("table_name", 256), octets("cut", 2048), number("kept_rows"), moment("kept_at"), moment("expires_at"),
			prose("error", "TEXT NULL", 1000),
		}, []tableIndex{primary("job_id", "step"), index("expires_at", "expires_at")}},
		{"onerow_retention", []wantColumn{octets("resource", 64), moment("next_at")}, []tableIndex{primary("resource")}},
		{"onerow_switch", []wantColumn{
			octets("name", 64), flag("is_on"), prose("reason", "VARCHAR(255) NOT NULL", 255), moment("changed_at"), number("version"),
		}, []tableIndex{primary("name")}},
		{"onerow_control", []wantColumn{
			octets("kind", 16), octets("name", 255), octets("value", 255), moment("changed_at"), number("version"),
		}, []tableIndex{primary("kind", "name")}},
		{"onerow_plan", []wantColumn{octets("fingerprint", 64), {name: "description", ddl: "MEDIUMBLOB NOT NULL", is: anyType}, moment("stored_at")},
			[]tableIndex{primary("fingerprint"), index("stored_at", "stored_at")}},
		{"onerow_worker", []wantColumn{
			octets("name", 255), moment("started_at"), moment("seen_at"), prose("throttle", "VARCHAR(255) NULL", 255), number("job_id").null(), number("beats"),
		}, []tableIndex{primary("name")}},
	}
}

func keyTables() []toolkitTable {
	key := func() []wantColumn {
		return []wantColumn{octets("tenant", 255), octets("operation", 255), octets("idem_key", 255)}
	}
	return []toolkitTable{
		{"onerow_key", append(key(),
			octets("status", 16), flag("attention"), number("token"), number("version"), fixed("call_token", 16), fixed("fingerprint", 32).null(),
			prose("locked_by", "VARCHAR(255) NOT NULL", 255), moment("created_at"), moment("locked_at"), moment("expected_completion").null(),
			moment("lease_until").null(), moment("completed_at").null(), moment("expires_at").null(), octets("codec", 64).null(), flag("is_reference"),
			blob("result"), prose("error", "TEXT NULL", 1000),
		), []tableIndex{primary("tenant", "operation", "idem_key"), index("state", "status", "attention", "expected_completion"), index("expires_at", "expires_at")}},
		{"onerow_key_audit", append(key(),
			number("token"), octets("action", 16), octets("seen_status", 16), prose("actor", "VARCHAR(255) NOT NULL", 255), prose("reason", "TEXT NOT NULL", 1000), moment("acted_at"),
		), []tableIndex{primary("tenant", "operation", "idem_key", "token", "action"), index("acted_at", "acted_at")}},
		{"onerow_admission", append(key(), fixed("call_token", 16), moment("admitted_at"), moment("until_at")),
			[]tableIndex{primary("tenant", "operation", "idem_key"), index("until_at", "until_at")}},
	}
}

func serialTables() []toolkitTable {
	return []toolkitTable{
		{"onerow_serial", []wantColumn{octets("series", 255), number("first_no"), number("next_no")}, []tableIndex{primary("series")}},
		{"onerow_serial_claim", []wantColumn{
			octets("series", 255), octets("claim_key", 255), number("amount"), number("from_no").null(), number("to_no").null(), fixed("call_token", 16),
			moment("claimed_at"), moment("voided_at").null(), prose("void_reason", "TEXT NULL", 1000),
		}, []tableIndex{primary("series", "claim_key"), unique("from_no", "series", "from_no")}},
	}
}

func orderingTables() []toolkitTable {
	return []toolkitTable{
		{"onerow_stream", []wantColumn{
			octets("consumer", 64), octets("stream", 255), number("epoch"), number("last_seq"), number("held"), blob("state"), moment("updated_at"),
		}, []tableIndex{primary("consumer", "stream"), index("held", "consumer", "held")}},
		{"onerow_stream_message", []wantColumn{
			octets("consumer", 64), octets("stream", 255), number("epoch"), number("seq"), flag("applied"), blob("payload"), moment("received_at"),
		}, []tableIndex{primary("consumer", "stream", "epoch", "seq"), index("received_at", "consumer", "applied", "received_at")}},
		{"onerow_dead_letter", []wantColumn{
			number("id").auto(), octets("queue", 64), octets("message_id", 255), blob("payload"), prose("reason", "TEXT NOT NULL", 1000),
			prose("losing", "MEDIUMTEXT NULL", 1000), moment("parked_at"),
		}, []tableIndex{primary("id"), unique("message", "queue", "message_id"), index("parked", "queue", "id")}},
	}
}

func flowTables() []toolkitTable {
	return []toolkitTable{
		{"onerow_flow", []wantColumn{
			octets("flow", 255), octets("stage", 64), octets("request_id", 255), number("version"), fixed("call_token", 16), moment("claimed_at"),
		}, []tableIndex{primary("flow", "stage")}},
		{"onerow_flow_request", []wantColumn{
			octets("flow", 255), octets("stage", 64), octets("request_id", 255), octets("status", 16), octets("superseded_by", 255).null(),
			moment("admitted_at"), moment("ended_at").null(),
		}, []tableIndex{primary("flow", "stage", "request_id"), index("open_requests", "flow", "status"), index("ended_at", "ended_at")}},
		{"onerow_flow_step", []wantColumn{octets("step_id", 512), blob("asked"), blob("answer"), moment("created_at"), moment("answered_at").null()},
			[]tableIndex{primary("step_id")}},
	}
}
