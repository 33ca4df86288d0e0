// Package work deletes what hangs below one row, bottom-up. Package cascade, whose queue lends it the job,
// says what it guarantees; package graph says what hangs below what.
//
//	Do ── pass after pass, until one has ended the job            run.go
//	 │
//	 └─ pass: find the root                                       root.go, own.go
//	     ├─ walk, depth first: read a chunk, walk below it,       walk.go, loop.go
//	     │  put it into the queue; a full queue is dropped
//	     └─ drop the rest of the queue, and the root
//
//	drop ── a load: groups of rows, children before parents       drop.go
//	 ├─ rehearse what names assets, delete the assets             assets.go
//	 └─ in batches, none with more leaves than fit                portions.go
//	     └─ batch, one transaction of the lease:                  batch.go
//	         ├─ lock the rows                                     locks.go
//	         ├─ delete and detach what is unread below them       unread.go
//	         ├─ look for anything else below                      held.go
//	         ├─ delete those that have nothing                    owners.go marks their quotas
//	         └─ the last one: the root, and the job ends          root.go
//
//	a batch that fails because of a row                           poison.go
//	 ├─ of an unread one: read below that edge, drop again
//	 └─ else halve the load until the row is found: park it       park.go
//
// A run keeps what is true for the whole job: which rows are parked, below which edges rows go unread no
// more, over which edges rows refer to themselves. A pass keeps what it has seen, and forgets it at its end.
package work
