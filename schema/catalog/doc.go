// Package catalog reads what information_schema says of the current database: columns, indexes, keys and
// triggers of its tables, as code that builds statements from them needs it.
//
//	cat, err := catalog.Read(ctx, db)
//	column, ok := cat.Column("ticket", "title")
//
// [Catalog.Describe] changes when a plan changes, or anything in the database on which a cascade by this
// plan relies; [Changes] says in words what has. [Catalog.TrashDDL] makes the tables that keep what is
// deleted.
//
// # What is guaranteed
//
//   - It only reads the dictionary, never a row. A [Catalog] does not change, and may be used by many
//     goroutines.
//
// # Not guaranteed
//
//   - It sees what its user is shown: not triggers without the right TRIGGER, not tables without any right,
//     not what has changed since it looked.
//   - It says nothing of whether the tables are as a plan declares them: package live does.
//
// # Statements
//
//	Read   8
//
// Open this package when something of information_schema is read, or a running worker is to notice a change.
package catalog
