// Command publicschemas has discover, deletion and restoring on trial with schemas that others designed,
// which scripts/get-schemas gets from Debian's packages:
//
//	go run -C proof ./publicschemas "$(scripts/get-schemas)"                all of them, a root of each table
//	go run -C proof ./publicschemas -schema kea -roots 5 -seed 7 DIR        more roots of one, other rows
//	go run -C proof ./publicschemas -part 2/4 DIR                           the second quarter of the roots
//	go run -C proof ./publicschemas -roots 0 -v DIR                         discover alone, and what it misses
//
// Each table is filled with random rows that NOT NULL, unique keys and the foreign keys allow, with circles
// of rows and rows that refer to themselves. Triggers, routines, and the rows that a script brings are left
// out; it says how many.
//
// Discover: in a copy without foreign keys, what it proposes is compared with the foreign keys that there
// are. A proposal is right, too, that is on a list of references that the schema has and does not declare,
// each with its reason: see undeclared.go. "By name" is with empty tables; "with rows" without those
// proposals of which a look at the rows found a value that is not there.
//
// Deletion: discover makes a plan from the foreign keys, of all tables, and for half of the roots of the
// root's table alone; verify has to accept it as it is. Rows are kept for 30 days. The worker deletes a root;
// an oracle says in memory, from the foreign keys that the server declares, which rows have to be gone and
// which references NULL, and each other row has to be as it was. Then the job is restored, and the database
// has to be as it was before, byte by byte. The first difference ends a schema, and the command exits with 1.
//
// The server is found as package devdb says. Parts are of the same roots and rows, so they can run one after
// another, or again from where one was cut.
package main
