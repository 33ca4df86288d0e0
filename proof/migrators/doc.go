// Package migrators shows that other migration tools make the toolkit's tables from what `cascade-worker
// migrate sql` prints: goose, golang-migrate and atlas, each by its own library, with the file's name that it
// wants.
//
// Flyway is not run: it takes V2__onerow.sql, and cuts a file at semicolons at the ends of lines, as
// migrations.TestSQL does.
//
// Open this package when the printed statements change, or another tool is asked for.
package migrators
