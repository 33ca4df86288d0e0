// Package poolfuzz lets a thousand callers share a pool of three connections, with verbs in transactions that
// hold one of them each, and contexts that end anywhere:
//
//	go run -C proof -race ./soak pool -minutes 20 -seed 7
//
// Drawn are creates with a request id, Archive, Activate, Delete, keys in one commit, claims of numbers, and
// a claim and a create in one transaction. A third of the calls has a deadline of up to 20 ms, much of which
// is spent waiting for a connection.
//
// # What is judged
//
//   - A request id, a claim key and an idempotency key have one answer, whoever asks and however often, and
//     what was answered is in the tables at the end.
//   - An effect under a key is there once, and not without its key; numbers have no gaps.
//   - A row is in one table, an owner has no more rows than the limit, and a count changes nothing.
//   - An error is one that the verb names, or that time is over.
//   - Callers end; at the end no session, transaction or goroutine is left.
package poolfuzz
