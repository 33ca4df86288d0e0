// Command postcards shows package serial at work: numbered postcards are sold, and each
// purchase event claims a range of numbers. Events are delivered several times at
// once, processes die, a purchase is refunded.
//
//	make demo DEMO=postcards          or: go run -C examples ./postcards [-dsn DSN] [-v]
//
// The same story is told twice. First with claims, in the transaction of the purchase: each
// event has one range, the refunded range is voided, and the gap report finds nothing
// else. Then with a plain counter (look, UPDATE counter, COMMIT, INSERT): each raced
// duplicate and each crash leaves a gap, and nobody can say what the missing numbers were.
//
// The exit code is 0 when the claims are without gaps and the plain counter is not, 1
// when that is not so, something failed or the run was stopped. It uses a database of its own, on the
// server that ONEROW_DSN names, and drops it at the end.
package main
