// Package schema is where the rules of an application's tables are declared, once
// and as data: which table is active and which archive, whose column names the
// owner, which name must be unique, what hangs below what. Moving rules into
// constraints makes them fast and true, but hard to see; so
//
//   - the DDL of the tables comes from the declaration ([Plan.DDL]),
//   - [Verify] holds the declaration against information_schema and names each
//     difference, so that a program refuses to start on a database where the
//     constraint that it relies on is missing,
//   - repositories, quotas and the cascade read the same value.
//
// A [Plan] is a list of [Resource] values; YAML is another spelling of it. A
// resource of the plan is found by its name:
//
//	plan := schema.Plan{Resources: []schema.Resource{{
//		Name: "project", Archive: "project_archive", Owner: "user_id",
//		Label: schema.Label{Column: "name", Key: "name_key", Kind: schema.KindName},
//	}, {
//		Name: "comment", Parent: schema.Parent{Resource: "project", Column: "project_id"},
//		Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
//	}}}
//
// # The tables of a resource
//
//	active table                                   archive table
//	id          BIGINT AUTO_INCREMENT, the key     the same id, not generated
//	<owner>     whose row it is                    the same
//	<parent>    the row above                      the same
//	<label>     the name as typed                  the same
//	<key>       the name key                       the same, not unique
//	stem_key, copy_no                              the same
//	<quota>     the flag "over quota"              the same, always 0
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
// # Names
//
// Name keys are computed in Go and compared byte by byte, so every engine and
// collation agrees; see [Name], [FilenameBase] and [NameKind.Parse].
//
// What this package does not do: change a table. It never runs DDL; an
// application puts [Plan.DDL] into a migration of its own.
package schema
