// Package recover brings back what a job of package cascade has deleted, as far as the plan kept it in its
// trash: [Job] all that was below a row and then the row itself, [Rows] without the row. A dry run says what
// would come back.
//
// It stands above package repo, whose rows return by it, and beside package cascade, whose worker it does not
// link. Whoever imports it cannot call the built-in recover in that file.
//
// # Guarantees
//
//   - What is kept is put back byte by byte, parents first, each batch under the job's token, while others
//     write. A call may be cut at any place; the next one goes on.
//   - What is taken or has lost its row above meanwhile stays in the trash, with the reason. A row comes back
//     below what has come back, or what its job never took, and not below a row that has taken such a key
//     since; where copies of rows above are gone from the trash, not below what may be one of those.
//   - What is not back is held against what was deleted, and told by table.
//
// # Not guaranteed
//
//   - That a root comes back which the application has deleted by itself.
//
// Open this package when a program is to bring rows back.
package recover
