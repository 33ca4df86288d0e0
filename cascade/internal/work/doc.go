// Package work deletes what hangs below one row, bottom-up. Package cascade, whose queue lends it the job,
// says what it guarantees; package graph says what hangs below what.
//
//	Do ── pass after pass, until one has ended the job            run.go
//	 │
//	 └─ pass: find the root                                       root.go, root_own.go
//	     ├─ walk, depth first: read a chunk, walk below it,       walk.go, loop.go
//	     │  put it into the queue; a full queue is dropped        queue.go
//	     └─ drop the rest of the queue, and the root
//
//	drop ── a load: groups of rows, children before parents       drop.go
//	 ├─ rehearse what names assets, delete the assets             assets.go
//	 └─ in batches, none with more leaves than fit                portions.go
//	     └─ batch, one transaction of the lease (lease.go):       batch.go
//	         ├─ lock the rows, and what foreign keys lock         locks.go
//	         ├─ delete and detach what is unread below them       unread.go
//	         ├─ look for anything else below                      held.go
//	         ├─ keep and delete those that have nothing           trash.go, owners.go marks their quotas
//	         └─ the last one: the root, and the job ends          root.go
//
//	a batch that fails because of a row                           poison.go
//	 ├─ of an unread one: read below that edge, drop again
//	 └─ else halve the load until the row is found: park it       park.go
//
//	many jobs that have little to delete: NewBundle, Drop           together.go, together_due.go
//	 └─ lock the roots, look below them, delete and detach        together_leaves.go
//	    what is unread there, delete the roots
//
// A run keeps what is true for the whole job: which rows are parked, below which edges rows go unread no
// more, over which edges rows refer to themselves. A pass keeps what it has seen, and forgets it at its end.
//
// # Statements
//
// BEGIN and COMMIT count as statements here. Per pass (one pass unless rows move, appear, are in a loop or
// poisonous):
//
//	the root's row is looked for                     1
//	each non-leaf table and edge                     1 per chunk of parents, 1 more per full
//	                                                 chunk of rows, 1 more for each renewal
//	each batch of what was found                     as below; where it has rows with assets
//	                                                 twice, first rolled back, and then 1
//	                                                 per 100 assets
//	the last batch                                   the same, and 3 for the root: look for
//	                                                 anything below, copy the job, delete it;
//	                                                 +2 where the root row is still there, +1
//	                                                 per pass where no deletion hides it, +1
//	                                                 with a quota, +1 per index of columns
//	                                                 other than the key
//
//	batch:   BEGIN, fence, per table and edge: lock the rows, and 1 per index of columns other
//	         than the key that something refers to; where the rows are of several
//	         levels: look for others below, 1 per table; per group of rows, which is a chunk
//	         of one table: 1 per leaf table and 1 per detached table below, look for others
//	         below (1, only where there can be any and the first look has found some,
//	         or where a leaf or detached table has answered with no row), delete the rows;
//	         counts (1, and 1 where rows were detached), COMMIT
//	leaves:  where a group has more than a batch of these, batches take as many of its rows as
//	         have about a batch of them; below a row that has more, BEGIN, fence, 1 per leaf or
//	         detached table, counts, COMMIT
//	detach:  where rows that are detached may go themselves, they are locked and read (1), those
//	         above them read (see run.going), and both kinds detached by their keys (1 each)
//	trash:   where the plan keeps rows, leaves take 2 each (copy, delete what was copied), and
//	         what is or may be detached is read. 1 per job to begin; 1 more per list of rows
//	         that are deleted or detached by their keys; 1 per batch for the note
//	cut:     BEGIN, fence, 1, COMMIT per chunk with rows of a loop, after a pass that met one
//	poison:  about 2·log2(n) batches to find a row among n, and BEGIN, fence, park, COMMIT; its
//	         table is read from then on, and no longer deleted unread
package work
