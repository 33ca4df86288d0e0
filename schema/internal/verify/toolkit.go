package verify

import (
	"fmt"
	"slices"

	"github.com/onerow/onerow/schema/internal/shape"
)

// ToolkitTable is a table of package migrations: what the toolkit's statements
// rely on. A test holds it against the migrations.
type ToolkitTable struct {
	Name    string
	Columns []WantColumn
	Indexes []shape.Index
}

func number(name string) WantColumn {
	return WantColumn{Name: name, DDL: "BIGINT NOT NULL", Is: Integer, Min: 8}
}

func octets(name string, min int64) WantColumn {
	return WantColumn{Name: name, DDL: fmt.Sprintf("VARBINARY(%d) NOT NULL", min), Is: VariableBytes, Min: min}
}

func moment(name string) WantColumn {
	return WantColumn{Name: name, DDL: "DATETIME(6) NOT NULL", Is: UTCTime}
}

func fixed(name string, min int64) WantColumn {
	return WantColumn{Name: name, DDL: fmt.Sprintf("BINARY(%d) NOT NULL", min), Is: FixedBytes, Min: min}
}

func (c WantColumn) null() WantColumn {
	c.DDL = c.DDL[:len(c.DDL)-len("NOT NULL")] + "NULL"
	return c
}

func (c WantColumn) auto() WantColumn {
	c.DDL += " AUTO_INCREMENT"
	return c
}

const (
	decides = "it decides which of two callers wins"
	goesBy  = "the toolkit's statements go by it"
)

func primary(columns ...string) shape.Index {
	return shape.Index{Columns: columns, Unique: true, Why: decides}
}

func unique(name string, columns ...string) shape.Index {
	return shape.Index{Name: name, Columns: columns, Unique: true, Why: decides}
}

func index(name string, columns ...string) shape.Index {
	return shape.Index{Name: name, Columns: columns, Why: goesBy}
}

func prose(name, ddl string, min int64) WantColumn {
	return WantColumn{Name: name, DDL: ddl, Is: Characters, Min: min}
}

func flag(name string) WantColumn {
	return WantColumn{Name: name, DDL: "TINYINT NOT NULL", Is: Integer, Min: 1}
}

// blob holds up to 16 MiB; its type matters little, for no index is on it.
func blob(name string) WantColumn { return WantColumn{Name: name, DDL: "MEDIUMBLOB NULL", Is: AnyType} }

// ToolkitTables are the tables of package migrations, by workflow.
func ToolkitTables() []ToolkitTable {
	return slices.Concat(requestTables(), limitTables(), cascadeTables(), keyTables(), serialTables(), orderingTables(), flowTables())
}

// Absent begins what is said of a table that is not there.
const Absent = "it does not exist"

func requestTables() []ToolkitTable {
	return []ToolkitTable{
		{"onerow_request", []WantColumn{
			octets("resource", 64), octets("owner", 512), octets("request_id", 255), octets("row_id", 512).null(),
			fixed("fingerprint", 32), fixed("call_token", 16), moment("created_at"),
		}, []shape.Index{primary("resource", "owner", "request_id"), index("created_at", "created_at")}},
		{"onerow_quota_mark", []WantColumn{
			number("id").auto(), octets("resource", 64), octets("owner", 512), moment("created_at"),
		}, []shape.Index{primary("id"), index("owner", "resource", "owner", "id")}},
		{"onerow_quota_owner", []WantColumn{
			octets("resource", 64), octets("owner", 512), number("generation"), moment("changed_at"),
		}, []shape.Index{primary("resource", "owner"), index("changed_at", "resource", "changed_at")}},
	}
}

func limitTables() []ToolkitTable {
	return []ToolkitTable{
		{"onerow_limit", []WantColumn{
			octets("name", 64), octets("owner", 512), {Name: "stripe", DDL: "INT NOT NULL", Is: Integer, Min: 4}, number("room"), number("maximum"),
			number("version"), moment("counted_at").null(),
		}, []shape.Index{primary("name", "owner", "stripe"), index("counted_at", "name", "counted_at")}},
		{"onerow_reservation", []WantColumn{
			octets("name", 64), octets("owner", 512), octets("reservation_key", 255), number("amount"), moment("expires_at"),
		}, []shape.Index{primary("name", "owner", "reservation_key"), index("expires_at", "name", "expires_at")}},
	}
}

func cascadeTables() []ToolkitTable {
	job := []WantColumn{
		octets("resource", 64), octets("resource_id", 512), number("deletion_id"), octets("state", 16), moment("due_at"), number("token"),
		prose("worker", "VARCHAR(255) NULL", 255), number("batch_seq"),
		{Name: "failures", DDL: "INT NOT NULL", Is: Integer, Min: 4}, prose("last_error", "TEXT NULL", 1000),
		moment("created_at"), moment("started_at").null(),
	}
	return []ToolkitTable{
		{"onerow_deletion", []WantColumn{
			number("id").auto(), octets("resource", 64), octets("resource_id", 512), octets("owner", 512).null(),
			octets("deleted_from", 8), number("grace_us"), moment("requested_at"),
		}, []shape.Index{primary("id"), index("resource", "resource", "resource_id")}},
		{"onerow_job", append([]WantColumn{number("id").auto()}, job...), []shape.Index{
			primary("id"), unique("one_open", "resource", "resource_id"), index("due", "resource", "due_at", "state"),
			index("state", "state", "id"),
		}},
		{"onerow_job_archive", append([]WantColumn{number("id"), moment("finished_at")}, job...), []shape.Index{
			primary("id"), index("resource", "resource", "resource_id", "id"), index("finished_at", "finished_at"),
			index("state", "state", "id"),
		}},
		{"onerow_job_count", []WantColumn{number("job_id"), octets("table_name", 256), number("deleted_rows")},
			[]shape.Index{primary("job_id", "table_name")}},
		{"onerow_job_plan", []WantColumn{number("job_id"), octets("fingerprint", 64), moment("stored_at")}, []shape.Index{primary("job_id")}},
		{"onerow_job_detached", []WantColumn{number("job_id"), octets("table_name", 256), number("detached_rows")},
			[]shape.Index{primary("job_id", "table_name")}},
		{"onerow_parked", []WantColumn{
			number("id").auto(), number("job_id"), octets("table_name", 256), octets("row_key", 512), prose("error", "TEXT NOT NULL", 1000),
			octets("state", 16), number("version"), moment("parked_at"),
		}, []shape.Index{primary("id"), unique("one_row", "job_id", "table_name", "row_key"), index("state", "state", "id")}},
		{"onerow_action", []WantColumn{
			number("id").auto(), octets("action", 16), octets("resource", 64).null(), octets("resource_id", 512).null(), number("deletion_id").null(), number("job_id").null(),
			octets("table_name", 256).null(), octets("row_key", 512).null(), prose("actor", "VARCHAR(255) NOT NULL", 255), prose("reason", "TEXT NOT NULL", 1000), moment("acted_at"),
		}, []shape.Index{primary("id"), index("deletion", "deletion_id", "id"), index("job", "job_id", "id"), index("acted_at", "acted_at")}},
		{"onerow_trash", []WantColumn{
			number("job_id"), number("step"), octets("table_name", 256), octets("cut", 2048), number("kept_rows"), moment("kept_at"), moment("expires_at"),
			prose("error", "TEXT NULL", 1000),
		}, []shape.Index{primary("job_id", "step"), index("expires_at", "expires_at")}},
		{"onerow_retention", []WantColumn{octets("resource", 64), moment("next_at")}, []shape.Index{primary("resource")}},
		{"onerow_switch", []WantColumn{
			octets("name", 64), flag("is_on"), prose("reason", "VARCHAR(255) NOT NULL", 255), moment("changed_at"), number("version"),
		}, []shape.Index{primary("name")}},
		{"onerow_control", []WantColumn{
			octets("kind", 16), octets("name", 255), octets("value", 255), moment("changed_at"), number("version"),
		}, []shape.Index{primary("kind", "name")}},
		{"onerow_plan", []WantColumn{octets("fingerprint", 64), {Name: "description", DDL: "MEDIUMBLOB NOT NULL", Is: AnyType}, moment("stored_at")},
			[]shape.Index{primary("fingerprint"), index("stored_at", "stored_at")}},
		{"onerow_worker", []WantColumn{
			octets("name", 255), moment("started_at"), moment("seen_at"), prose("throttle", "VARCHAR(255) NULL", 255), number("job_id").null(), number("beats"),
		}, []shape.Index{primary("name")}},
	}
}

func keyTables() []ToolkitTable {
	key := func() []WantColumn {
		return []WantColumn{octets("tenant", 255), octets("operation", 255), octets("idem_key", 255)}
	}
	return []ToolkitTable{
		{"onerow_key", append(key(),
			octets("status", 16), flag("attention"), number("token"), number("version"), fixed("call_token", 16), fixed("fingerprint", 32).null(),
			prose("locked_by", "VARCHAR(255) NOT NULL", 255), moment("created_at"), moment("locked_at"), moment("expected_completion").null(),
			moment("lease_until").null(), moment("completed_at").null(), moment("expires_at").null(), octets("codec", 64).null(), flag("is_reference"),
			blob("result"), prose("error", "TEXT NULL", 1000),
		), []shape.Index{primary("tenant", "operation", "idem_key"), index("state", "status", "attention", "expected_completion"), index("expires_at", "expires_at")}},
		{"onerow_key_audit", append(key(),
			number("token"), octets("action", 16), octets("seen_status", 16), prose("actor", "VARCHAR(255) NOT NULL", 255), prose("reason", "TEXT NOT NULL", 1000), moment("acted_at"),
		), []shape.Index{primary("tenant", "operation", "idem_key", "token", "action"), index("acted_at", "acted_at")}},
		{"onerow_admission", append(key(), fixed("call_token", 16), moment("admitted_at"), moment("until_at")),
			[]shape.Index{primary("tenant", "operation", "idem_key"), index("until_at", "until_at")}},
	}
}

func serialTables() []ToolkitTable {
	return []ToolkitTable{
		{"onerow_serial", []WantColumn{octets("series", 255), number("first_no"), number("next_no")}, []shape.Index{primary("series")}},
		{"onerow_serial_claim", []WantColumn{
			octets("series", 255), octets("claim_key", 255), number("amount"), number("from_no").null(), number("to_no").null(), fixed("call_token", 16),
			moment("claimed_at"), moment("voided_at").null(), prose("void_reason", "TEXT NULL", 1000),
		}, []shape.Index{primary("series", "claim_key"), unique("from_no", "series", "from_no")}},
	}
}

func orderingTables() []ToolkitTable {
	return []ToolkitTable{
		{"onerow_stream", []WantColumn{
			octets("consumer", 64), octets("stream", 255), number("epoch"), number("last_seq"), number("held"), blob("state"), moment("updated_at"),
		}, []shape.Index{primary("consumer", "stream"), index("held", "consumer", "held")}},
		{"onerow_stream_message", []WantColumn{
			octets("consumer", 64), octets("stream", 255), number("epoch"), number("seq"), flag("applied"), blob("payload"), moment("received_at"),
		}, []shape.Index{primary("consumer", "stream", "epoch", "seq"), index("received_at", "consumer", "applied", "received_at")}},
		{"onerow_dead_letter", []WantColumn{
			number("id").auto(), octets("queue", 64), octets("message_id", 255), blob("payload"), prose("reason", "TEXT NOT NULL", 1000),
			prose("losing", "MEDIUMTEXT NULL", 1000), moment("parked_at"),
		}, []shape.Index{primary("id"), unique("message", "queue", "message_id"), index("parked", "queue", "id")}},
	}
}

func flowTables() []ToolkitTable {
	return []ToolkitTable{
		{"onerow_flow", []WantColumn{
			octets("flow", 255), octets("stage", 64), octets("request_id", 255), number("version"), fixed("call_token", 16), moment("claimed_at"),
		}, []shape.Index{primary("flow", "stage")}},
		{"onerow_flow_request", []WantColumn{
			octets("flow", 255), octets("stage", 64), octets("request_id", 255), octets("status", 16), octets("superseded_by", 255).null(),
			moment("admitted_at"), moment("ended_at").null(),
		}, []shape.Index{primary("flow", "stage", "request_id"), index("open_requests", "flow", "status"), index("ended_at", "ended_at")}},
		{"onerow_flow_step", []WantColumn{octets("step_id", 512), blob("asked"), blob("answer"), moment("created_at"), moment("answered_at").null()},
			[]shape.Index{primary("step_id")}},
	}
}
