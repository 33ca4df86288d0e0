// Package work deletes what hangs below one row, bottom-up. Package cascade hands it the job, and documents
// the guarantees; package graph says what hangs below what.
//
// # The way of a row
//
// There is one engine, and all that it deletes is a load: groups of rows, children before parents, and after
// them, perhaps, the roots. It may have one root below which a pass has walked, or, without groups, the many
// roots of a bundle of small jobs.
//
//	Do ── pass after pass, until one has ended the job            job.go
//	 │    or patience says how it ends else                       patience.go
//	 └─ pass: find the root, refuse what is not the job's         roots.go, refuse.go
//	     ├─ is it due, if the plan's retention has found it       due.go
//	     ├─ walk, depth first: read a chunk, walk below it,       walk.go, loops.go
//	     │  put it into the queue; drop a full queue              queue.go
//	     └─ drop the rest of the queue, with the root
//
//	drop ── a load, part by part, none with more leaves than fit  drop.go, portions.go
//	 ├─ a part that names assets: rehearse, delete the assets     assets.go
//	 └─ a batch, one transaction of the lease (lease.go):         batch.go
//	     ├─ lock the rows, the roots,                             batch.go, roots.go
//	     │  and what foreign keys lock of them                    locks.go
//	     ├─ check whether they have other children                check.go
//	     ├─ group by group: delete and detach what goes unread    unread.go, detach.go
//	     │  below the rows, check them if that was no proof,
//	     │  keep and delete those without children                trash.go, owners.go marks their quotas
//	     ├─ the same for the roots                                roots.go
//	     └─ the job ends                                          end.go
//
//	a batch that fails because of a row                           isolate.go
//	 ├─ of one that went unread: read below that edge, drop again
//	 └─ else halve the load until the row is found: park it       park.go
//
//	a bundle: the roots of small jobs, all in one batch           bundle.go, bundle_due.go
//	 └─ leaves are deleted and counted by the root above          leaves_by_root.go
//
// An eraser knows what batches have to know; a run adds what is true for one job from pass to pass; a pass
// keeps what it has seen, and forgets it at its end. A bundle is an eraser with many roots. It has no pass: a
// root that has to be walked below, or refused, is kept for a job of its own.
//
// The check is the one question that keeps a parent: has it children? It is asked once for all groups of a
// batch, again for a single group where the answer was yes or proves nothing, and not at all for an edge
// where the deletion itself has proved that nothing is left.
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
//	         above them read (see eraser.going), and both kinds detached by their keys (1 each)
//	trash:   where the plan keeps rows, leaves take 2 each (copy, delete what was copied), and
//	         what is or may be detached is read. 1 per job to begin; 1 more per list of rows
//	         that are deleted or detached by their keys; 1 per batch for the note
//	cut:     BEGIN, fence, 1, COMMIT per chunk with rows of a loop, after a pass that met one
//	poison:  about 2·log2(n) batches to find a row among n, and BEGIN, fence, park, COMMIT; its
//	         table is read from then on, and no longer deleted unread
//
// Open this package when a batch deletes, parks or leaves the wrong row, or is too large or too small.
package work
