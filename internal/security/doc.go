// Package security proves which rights a user of the database needs, and that no more are needed: the table
// of grants in docs/OPERATIONS.md is read, a user gets what a row of it says, and the work is done as that
// user; then it is done again with each right taken away, and must fail with the server's refusal.
//
// The document is the only place where the rights are written down, so it cannot say
// something else than what is proven. The commands of the worker are proven in
// cascade/command, the packages that an application calls in the tests here.
//
// # Not covered
//
// Rights that come from a role or from a grant on columns (package schema tests those),
// and servers that treat rights otherwise than MariaDB 10.6 and later or MySQL 8 and later.
//
// Open this package when a right is added to the table of grants.
package security
