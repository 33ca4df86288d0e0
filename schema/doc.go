// Package schema is where the rules of an application's tables are declared, once
// and as data: which table is active and which archive, whose column names the
// owner, which name must be unique, what hangs below what. Moving rules into
// constraints makes them fast and true, but hard to see; so
//
//   - the DDL of the tables comes from the declaration ([Plan.DDL]),
//   - live.Verify holds the declaration against information_schema and names each
//     difference and a tested fix, so that a program refuses to start on a database where the
//     constraint that it relies on is missing,
//   - repositories, quotas and the cascade read the same value.
//
// This package is data: it needs no database and links no driver. What asks a live server stands above it:
// package catalog (what the tables are), package live (Verify, rights), package discover (a plan from foreign
// keys), package adopt (a table with rows becomes a resource).
//
// A [Plan] is a list of [Resource] and [Table] values; YAML is another spelling of it, see planfile. A
// resource of the plan is found by its name:
//
//	plan := schema.Plan{Resources: []schema.Resource{{
//		Name: "project", Archive: "project_archive", Owner: "user_id",
//		Label: schema.Label{Column: "name", Key: "name_key", Kind: names.KindName},
//	}, {
//		Name: "comment", Parent: schema.Parent{Resource: "project", Column: "project_id"},
//		Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
//	}}}
//
// # The tables of a resource
//
//	active table                                   archive table
//	id          BIGINT AUTO_INCREMENT, the key     the same id, not generated
//	<tenant>    the owner's tenant                 the same
//	<owner>     whose row it is                    the same
//	<parent>    the row above                      the same
//	<label>     the name as typed                  the same
//	<key>       the name key                       the same, not unique
//	stem_key, copy_no                              the same
//	<quota>     the flag "over quota"              the same, always 0
//	<guard>     of parents, in a plan for a cluster   the same
//	version     +1 with every write                the same
//	created_at, updated_at   UTC, microseconds     the same
//	<columns>   the application's own              the same
//	                                               archived_at
//	                                               deletion_id, deleted_from: set while
//	                                               a deletion can still be cancelled
//
// The unique index (owner, name key) of the active table is what decides who has
// a name. The archive has none, so any number of archived rows may share one.
//
// Ids and owners are of other types where the plan says so: integers of any size, CHAR, VARCHAR, BINARY and
// VARBINARY. An id without AUTO_INCREMENT is the application's to make:
//
//	schema.Plan{
//		Tenant: schema.Column{Name: "tenant_id"}, // in every resource, before its owner
//		Resources: []schema.Resource{
//			{Name: "workspace", IDType: "BINARY(16)"},
//			{Name: "ticket", IDType: "BINARY(16)", Parent: schema.Parent{Resource: "workspace", Column: "workspace_id"}, Owner: "workspace_id"},
//		},
//	}
//
// # Names
//
// Name keys are computed in Go and compared byte by byte, so every engine and
// collation agrees; see package names.
//
// # Lists
//
// A page of a list is read by an index: the owner's columns, those that it is filtered by, the one that it is
// ordered by, the id. The plan declares it, for archived rows too where it says so:
//
//	Indexes: []schema.Index{{Columns: []string{"user_id", "status", "due_at", "id"}, Archived: true}}
//
// # Existing tables
//
// A [Table] is one that the toolkit did not make: a key of any columns, and an [Edge]
// to each table above, with what becomes of its rows when the row above is deleted.
//
//	       verify and delete                     the row above is deleted
//	┌──────────────┐  edges   ┌───────┐    delete: the row goes before it, and all below it
//	│ plan (YAML)  ├─────────►│ rows  ├──► detach: the edge's columns become NULL
//	└──────▲───────┘          └───────┘    keep:   nothing; no foreign key may say otherwise
//	       │ discover                        {set: {gone_at: now}}: it is marked with the time, and refers on;
//	information_schema: foreign keys         no foreign key may say otherwise
//
// Package discover makes such a plan from the foreign keys below some roots; [Plan.Check] refuses loops of
// edges that delete, by their strongly connected components; live.Verify holds the plan against the database.
//
// Whether the root goes first or last: no foreign key holds a row of a [Resource], because the toolkit
// declares none between its tables; so that row goes at once, and what is below it follows. A row of a
// [Table] is held by the foreign keys of the rows below, so it goes last.
// Verify refuses a foreign key that leads to a resource, and, of those that lead to a
// table, each that is no edge of the plan.
//
// What this package does not do: change a table, or look at one. An application puts [Plan.DDL] into a
// migration of its own. Foreign keys between databases are refused, not followed.
//
// Open this package when a plan is to say something new.
package schema
