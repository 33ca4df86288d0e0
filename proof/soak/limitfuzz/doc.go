// Package limitfuzz runs every verb that takes and gives room below limits, by many clients on few owners,
// while sessions are killed, connections are cut and contexts end:
//
//	go run -C proof ./soak limits -minutes 2 -seed 7
//
// Drawn are Create, Archive, Activate, Delete with and without a grace period, CancelDelete, Update of the
// amount, Move to another owner, Reserve with its use, its Cancel or neither, several of them in one
// transaction, and other maxima, lower, higher and none. A cascade's worker takes away what was deleted, a
// sweep counts. One pool is at READ COMMITTED, the other one at REPEATABLE READ.
//
// # What is judged
//
//   - In each of a watcher's snapshots, one after the other, the room is what the rows leave, unless it is
//     noted that the owner is to be counted, and then it is no more.
//   - Nothing was admitted above the maximum: from one snapshot to the next what is in use is not more than
//     it was, or than a maximum between the two allowed.
//   - A row is in one table.
//   - At a quiet point, every two seconds, what is noted is counted soon, a count changes nothing, and what
//     is left of an owner's room can be taken.
//   - At the end no session, transaction or goroutine is left.
package limitfuzz
