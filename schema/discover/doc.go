// Package discover makes a plan from the foreign keys of a database, and proposes edges that no foreign key
// says.
//
//	plan, notes, proposals, err := discover.Plan(ctx, db, schema.Plan{}, []string{"host"}, nil)
//
// [Plan] takes the tables below some roots, or extends a plan, takes references that a person declares, and
// proposes others that names and types make likely, with how many of their values are there above.
// The notes say what a person should know or decide. [Erasure] names the columns that may say whose row
// something is, and on which a plan decides nothing.
//
// # What is guaranteed
//
//   - It only reads. The same database gives the same plan.
//   - No plan is made halfway: a table that cannot be in it, and a loop that cannot be broken, are errors
//     that say what to do.
//   - What a plan has stays as it is.
//
// # Not guaranteed
//
//   - A proposal is a guess: whether a column refers to a table only a person knows.
//   - A user is shown no table on which it has no right, so neither its foreign keys; a note says where that
//     may be so. Foreign keys between databases are noted, not followed.
//
// # Statements
//
//	Plan      10, and 1 for each proposal
//	Erasure   see there
//
// Open this package when a plan is proposed that misses an edge, or has a wrong one.
package discover
