package acknowledged_test

// notSQL says what the texts of the API are that are no SQL: package → what it is → names of parameters and
// fields, or Type.Name where a name has two meanings. An answer is what the toolkit says to its caller; SQL
// in it is its own. A name is quoted where it stands in SQL, and the identifiers that are none are refused.
//
// It goes by the package and the name, so a parameter that is called as one of them is not asked about anew:
// query, statement, condition, expression, SQL and the like are in no list without their type.
var notSQL = map[string]map[string]string{
	"onerow": {
		"key":   "encoded",
		"trace": "name parent traceparent",
	},
	"oteltrace": {
		"trace": "name parent traceparent",
	},
	"cascade": {
		"name": "Name names Deleted Detached ParkedIn Retained",
		"word": "Ended",
		"why":  "Throttle Throttled",
	},
	"cascade/admin": {
		"name":   "resource Worker Name",
		"answer": "Table Why Reason Resource ResourceID Owner From Actor Open Throttle",
		"why":    "reason",
		"find":   "text",
	},
	"cascade/command": {
		"name": "Version",
	},
	"cascade/fileassets": {
		"name": "address",
	},
	"cascade/inspect": {
		"name":   "resource encodedID OrphanOptions.Table",
		"answer": "Tables Capped Detached CappedDetached Table ID Key Columns Resource Values ReportOnly Why",
		"page":   "After",
	},
	"cascade/page": {
		"name":   "Name Prefix ProxyUser ReadTokens Tokens",
		"answer": "Database",
	},
	"cascade/queue": {
		"name":   "Resource ResourceID Worker name plan resource resourceID resources worker",
		"word":   "State state",
		"why":    "reason why",
		"answer": "Action Actor Detached Error From Key LastError Owner Plan Reason Table Tables",
		"trace":  "Traceparent",
	},
	"cascade/recover": {
		"answer": "Column Resource ResourceID RootMissing Table Why",
	},
	"crashtest": {
		"name":   "Empty Generated Ignore Name Refs Sets Tables",
		"word":   "Without schedule",
		"server": "DSN", // of a test, read by the driver
		"answer": "Answers Args Columns Copy Diff Engine Err Fault Isolation Kind Lock Note Reason Rows SQL Schedule Table WaitsFor Workflow",
	},
	"flow": {
		"name":   "Flow RequestID Stage flow id name requestID step stepID",
		"body":   "answer asked",
		"answer": "Answer Asked By ID Name Outcome Owner Status",
	},
	"flow/sqs": {
		"body": "Attributes Binary Body Subject Topic Type Value raw",
		"name": "DeduplicationID MessageID RequestID",
	},
	"idempotency": {
		"key":    "ID Operation Tenant",
		"name":   "Name fields operation ref",
		"word":   "event gauge",
		"body":   "data",
		"answer": "Error Holder Status",
		"trace":  "Traceparent",
	},
	"idempotency/httpkey": {
		"request": "Fingerprint Headers Route Tenant h",
		"answer":  "Body Detail Header Title Type",
	},
	"idempotency/keyadmin": {
		"name":   "actor",
		"word":   "Status",
		"why":    "reason",
		"answer": "Action Actor Reason Seen",
	},
	"idempotency/prommetrics": {
		"word": "event gauge operation",
	},
	"limit": {
		"name":   "name Name",
		"key":    "key",
		"answer": "Limit Owner",
	},
	"migrations": {
		"name":   "table",
		"answer": "Name",
	},
	"migrations/ddl": {
		"name":   "Name table Columns",
		"answer": "Type SQL FS.=",
	},
	"names": {
		"name":   "s",
		"answer": "Display Key Name Reason StemKey",
	},
	"onerowtest": {
		"name":  "resource",
		"setup": "ddl", // makes tables of a test's own database, on a connection that nothing else uses
	},
	"onerowtest/container": {
		"name": "image",
	},
	"ordering": {
		"name":   "At Consumer ID ByTime.Table messageID queue stream Message.Stream what",
		"values": "Change.Add Change.Set", // of columns, whose names are checked; bound
		"body":   "payload Payload",
		"answer": "Losing MessageID Outcome Queue Reason Stream",
	},
	"pool": {
		"answer": "Fix Setting Value Why",
	},
	"quota": {
		"name": "resource",
	},
	"repo": {
		"name":   "Sort.Column id name prefix resource",
		"key":    "key",
		"word":   "State",
		"page":   "After Next",
		"values": "PageOptions.Where", // of columns, bound
		"answer": "Active Columns Index Key Name OldName Resource Table Tables",
	},
	"schema": {
		"name": "Active Archive Asset By Column Columns Flag Guard ID Key Name Owner Owners Quota References Resource Retained Sum Table Tables Tenant Triggers " +
			"column equal name sort table Index.Columns Windows",
		"word":   "Because Kind OnDelete Zone state Age.UnmarshalText.text",
		"values": "Edge.When", // of columns, bound
	},
	"schema/adopt": {
		"name":   "resource Name Table",
		"page":   "Last",
		"answer": "Back Cost Holder ID Notes Owner What Writers",
	},
	"schema/catalog": {
		"name":   "column columns table tables to",
		"hash":   "before now",
		"answer": "Charset Collation Full Name Type",
	},
	"schema/discover": {
		"name":   "Key Table of roots soft",
		"answer": "Column Evidence Of Why",
	},
	"schema/live": {
		"name":   "Index Table User database user",
		"answer": "Column Database Fix Problem Rights SQL Text",
	},
	"schema/planfile": {
		"name": "name",
		"plan": "text",
	},
	"serial": {
		"name": "Series name",
		"key":  "Key key",
		"why":  "VoidReason reason",
		"page": "after",
	},
	"serial/gaps": {
		"name":   "From Key Name Series To Voided series",
		"answer": "Kind",
	},
}
