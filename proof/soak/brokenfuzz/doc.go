// Package brokenfuzz has verbs, a worker and restores under way on a server that is not well:
//
//	go run -C proof -race ./soak broken -minutes 20 -seed 7
//
// The private server has its data on a small file system of its own (tmpfs, by root), durable settings
// and innodb_lock_wait_timeout = 1. Drawn are, one after the other, each undone before the next:
//
//	kill, stop     SIGKILL and SIGTERM; the server comes back on another port
//	full           the disk is filled up but for what is drawn, so that no table grows
//	connections    max_connections is less than there are callers
//	statements     max_prepared_stmt_count is 0 to 3; one pool prepares
//	readonly       read_only, of MySQL super_read_only too
//	locks          other sessions lock what the verbs want, for longer than they wait, and in other orders
//
// Meanwhile callers create rows with request ids, delete them with what is below, have effects under keys,
// claim numbers, and do several of that in one transaction with a row of their own; a worker deletes, what
// it has deleted is brought back.
//
// # What is judged
//
//   - What was acknowledged is there once, what was refused is not there, and what has an unknown outcome
//     (onerow.ErrOutcomeUnknown) is there once or not at all; of a transaction all or nothing.
//   - A worker does not end. When the server is well the queue drains, no job is dead, what was deleted is
//     counted as it was.
//   - Room below limits is what the rows leave, numbers have no gaps.
//   - What a restore was asked for is back, with all below it.
//
// # What it cannot show
//
//   - A disk that loses what it has confirmed, or that is full for the log of InnoDB, which is preallocated.
//   - What was read by another caller just before a SIGKILL: callers share nothing but limits and series.
package brokenfuzz
