// Package schematest has what proves the cascade right on schemas that its authors did
// not design: three schemas of well-known shape with data, a checker that finds out by
// brute force what a cascade must leave, and a generator of random schemas with a model.
//
// # The checker
//
// [Read] reads every row of every table. [Expect] joins every foreign key, and every
// edge that only the plan knows, over all rows, follows them from the root row in memory, and says which rows
// must go and which columns become NULL: the rest stays as it is, byte for byte. [Expectation.Compare] holds
// that against what is there afterwards. It shares nothing with the engine but the plan's declaration, and an
// edge of information_schema that the plan lacks is an error.
//
// # The generator
//
// [Generate] makes from one seed a schema, a plan, rows and the references between
// the rows as pointers; [World.Delete] follows the pointers. What the database is
// asked by SQL and what the model knows meet only in the comparison. A failure is
// replayed by its seed: the same seed makes the same schema, rows and order of roots.
//
// # Not covered
//
// Triggers, partitions, generated columns and columns with ON UPDATE CURRENT_TIMESTAMP are not made. Data is
// small, up to some thousand rows: this is about what is deleted, not about how fast.
//
// Open this package when a schema breaks a deletion, or the generator is to make a new kind.
package schematest
