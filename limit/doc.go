// Package limit refuses what is over an owner's limit: so many rows, or a sum of one of their columns (bytes,
// seats). Package quota flags rows and never refuses; this refuses and never flags. A resource declares its
// limits in the plan ([schema.Limit]), the maximum is the application's ([quota.Limit]):
//
//	files, err := limit.New(plan, "file.bytes", quota.LimitQuery(`SELECT bytes FROM plan WHERE user_id = ?`))
//	uploads, err := repo.New[File](plan, "file", files)
//	_, err = uploads.Create(ctx, db, file) // errors.Is(err, limit.ErrLimit): nothing was written
//	err = limit.NewSweeper(db, limit.Config{}, files).Run(ctx)
//
// # What is guaranteed
//
//   - What counts is never more than the maximum, however many create and activate at once: active rows, rows
//     that were active and that a deletion hides, and reservations. A guarded update of one row decides,
//     `SET room = room - 1 WHERE … AND room >= 1`, in the transaction of the row.
//   - Archive and Delete give back in their own commit. A row that a deletion hides (a grace period, an asset
//     to be deleted first) keeps its place until it is gone, so that undoing the deletion never fails by a
//     limit.
//   - A maximum that was lowered below what there is, or above which a restore of deleted rows has brought
//     it, refuses until enough has gone.
//   - A [Rule.Reserve] holds room for work in two steps, an upload, until it is used, cancelled or over.
//   - Whatever a crash leaves is what a rollback leaves.
//
// # How
//
// onerow_limit has how much room an owner has left: in one row, or, where rows are counted and there is much
// of it, in 64 of which a transaction takes one by chance, so that many creates of one owner do not wait for
// each other's COMMIT. When the row that was tried has too little, the owner's rows are locked and the room
// is dealt anew. When all of it is too little, a transaction of its own asks for the maximum, lets expired
// reservations go, counts if need be, and then refuses with the numbers ([Error]).
//
//	not counted ──first take──► counted ──── takes, releases ────► counted
//	                              │  ▲                               │
//	       a cascade deletes rows │  └──────── count ◄── the sweep ──┘ or a take that finds no room
//	                              ▼                                    │
//	                          to be counted ───────────────────────────┘
//
// A count locks the owner's room first, and every verb that takes or gives locks it before it commits: so the
// count sees exactly what it accounts for. Nobody takes while it runs.
//
// # Statements
//
// Taking, giving back and using a reservation of the right amount: 1 in the transaction of the verb. Dealing
// anew: 2 more, 4 where there are 64 rows, 1 more still in a transaction of the caller's. A refusal costs the
// verb's transaction, which is rolled back, and one of its own: BEGIN, 4, the maximum's, COMMIT. The first
// take of an owner costs these too, with 2 that count and deal, and then the verb's once more. A count reads
// an index entry of each of the owner's rows, for a sum the rows: with the sweep once a day ([Config.Every]),
// and after a cascade.
//
// An owner has one row in onerow_limit for each limit; 64 where rows are counted and 8,192 or more are left,
// so also an owner without a maximum.
//
// # Not guaranteed
//
//   - An owner without a maximum has 2⁶¹ of room, twice [MaxAmount]. Sums are exact. One that is larger than
//     2⁶⁰ · 3, by the hands of others, is no number: what counts it, or needs room, is [ErrAmount] until some
//     of it is given back. A row counts for [MaxAmount] at most, and for 0 at least.
//   - A maximum is asked for when the room is used up, by [Rule.Changed] and by each count. Whoever lowers it
//     calls Changed in the same transaction; else what was left of the higher one can still be taken.
//   - At REPEATABLE READ with innodb_snapshot_isolation, MariaDB 11.8's default, the server refuses whoever
//     waited for an owner's room while another transaction changed it (error 1020). The call is run again; of
//     dozens at once for one owner some give up after 20 attempts, having written nothing
//     ([onerow.Retryable]). READ COMMITTED, which [pool.Open] asks for, has none of it.
//   - A plain read of MariaDB may show a commit and not an earlier one that it had waited for. So beside
//     verbs that are under way [Rule.Look], and rows that somebody counts in the same snapshot, may differ
//     for a moment. Whatever decides here locks first, and then sees all that was committed before.
//   - In a transaction of the caller's nothing runs in a transaction of its own: there the maximum that was
//     last seen counts, and the first take of an owner counts with locks on its rows.
//   - An owner in text is one owner in one spelling, as in package quota: where a collation takes "Bob" and
//     "bob" for the same, each has room of its own.
//   - Where a limit is new, or was away for a while, the room that is stored is right when each owner has
//     been counted, and all processes that write the rows know the limit: [Rule.Recount], or a sweep with a
//     short [Config.Every]. With a negative one only what was noted is ever counted again.
//   - Rows that other programs write, and what a cascade deletes below another row, are accounted for by the
//     next count: the cascade notes the owner in its batch, the sweep counts what is noted within seconds. A
//     create that would be refused counts them first.
//   - On a cluster of several primaries the guarded update decides by certification, as unique keys do. A
//     count is exact where its node has all that was committed (wsrep_sync_wait,
//     group_replication_consistency).
//
// Open this package when a row or a sum is refused, or let in, at an owner's limit.
package limit
