// Package idempotency makes work happen once for each key and remembers its result: whoever comes again with
// the key gets the stored result. The primary key of onerow_key decides, no lock service does.
//
//	keys, err := idempotency.New(idempotency.Config{Keep: 30 * 24 * time.Hour})
//	out, err := idempotency.Do(ctx, db, keys, idempotency.Key{Tenant: "7", Operation: "charge", ID: requestID},
//		func(ctx context.Context, tx *onerow.Tx) (Receipt, error) { … })   // writes through tx
//	// out.Row is the receipt; out.Replayed: it was made by an earlier call
//
// # One commit: Do
//
// For work inside the same database, the default. Key, work and result commit together:
//
//	BEGIN ─ key row ─ function ─┬─ nil ─ result ─ COMMIT
//	          │                 ├─ Permanent ─ ROLLBACK ─ key row with the error, a commit of its own
//	          │ another has     └─ other error ─ ROLLBACK: no row at all
//	          ▼ the key: wait until it ends
//	        it committed: its result; it rolled back: go on as the first
//
// A permanent error ([Permanent]; [ErrUndone] works the same way) rolls the function's transaction back. A
// second transaction then stores the error. No savepoint is used. After a crash between the two there is no
// row, and the next call runs the function again. If another call takes the key between the two, nothing of
// it is overwritten: both calls get its outcome. In a caller's transaction a savepoint is gone back to, see
// onerow.Tx.Savepoint. A process that has seen a key end looks for its answer by a plain read first.
//
// # Two steps: Begin, then Complete, Fail or Release
//
// For work outside the database. The states of a key:
//
//	              Begin                    Complete (token)
//	no row ──────────────────► in_progress ─────────────────► complete ─┐
//	  ▲                        ▲   │  │ ▲ │  Fail (token)               │ expires_at
//	  │             Begin,     │   │  │ │ └─────────────────► error ────┤ passed
//	  │             token+1    │   │  └─┘                               │
//	  │                        │   │   the lease ended: Begin takes     │
//	  │                        │   │   over, token+1                    ▼
//	  │                        │   │ Release (token):               as if there
//	  │                        │   ▼ "not done"                     were no row:
//	  └──────── Purge ◄─────── released ◄── an operator             Begin, token+1
//
// A released key, and one whose lease has ended, are free for the payload that they were claimed with. A
// released key expires as a finished one does. An operator's Expire makes either absent at once, free for any
// payload; it does not alarm any more.
//
// The claim's token is a fencing token: [Keys.Complete], [Keys.Fail], [Keys.Release], [Keys.Extend] and
// [Keys.Owned] count only from its holder, everybody else gets [ErrLost] and has changed nothing. [Work] runs
// a function between Begin and the end and maps its answer, a panic included, to these verbs.
//
// # Guarantees
//
//   - For a key the function of Do commits once, however often it is called, at the same time or after a
//     crash at any statement. All callers get the same result, nil and empty results included. The first
//     caller, of Work too, gets what encoding/json makes of it, so unexported fields are lost. A result that
//     JSON would change silently is [ErrCodec]. A crash before COMMIT leaves no row.
//   - Begin gives a key to one caller. A key in progress stays so until its holder ends it, an operator does,
//     or, only if the holder asked for a lease, the lease has ended and another Begin takes over.
//     expected_completion only raises an alarm.
//   - A token never goes backwards: it grows with each claim, the counter stays in the row when the key is
//     released, and a new row starts at the server's clock in microseconds, beyond what a purged row can have
//     had (while that clock does not go back by more than the time for which rows are kept).
//   - A holder that was taken over writes nothing more in [Keys.Owned]: the token is proven by the first
//     statement of the write's transaction, which holds the key's row until COMMIT.
//   - Another payload under the same key is [ErrMismatch], when both calls gave one ([Options].Payload): also
//     when the key is free because its work was not done. A call without a payload leaves the one that is
//     there. A Do that was rolled back leaves no row, and so no payload.
//   - Texts (an error, Config.Name) are stored and read whole on a connection of any character set. An error
//     of more than 16,000 bytes is cut and says so; what is not UTF-8 becomes U+FFFD.
//   - A result above Config.MaxResult is refused or stored by reference, never cut. One that the server does
//     not take in one statement (max_allowed_packet) is [ErrTooLarge] too, after one run of the function, or
//     two.
//   - An expired key is absent, purged or not. All times are those of the database's clock.
//   - The outcome is logged before the completion is written: a lost completion can be told from lost work.
//
// An unknown outcome (COMMIT or a statement was sent, no answer came) is resolved here: the call carries a
// token of its own, so it is run again, waits until the lost attempt has ended, and knows its own row.
// Functions of Do may therefore be entered more than once, in a new transaction, after the earlier one was
// rolled back. Owned is the exception: its function is not run again then, and the answer is
// onerow.ErrOutcomeUnknown.
//
// # Not guaranteed
//
//   - That work outside the database happens once. After a crash between Begin and Complete nobody can know:
//     the key stays in progress, the gauge rises, a human or a lease decides.
//   - That an answer outlives a crash of the server's machine at any setting: with
//     innodb_flush_log_at_trx_commit other than 1, and without a binary log for an instant even with 1,
//     others read a commit before it is on disk.
//   - Connections for other work while callers of Do wait for a key: each waiting caller holds one. Package
//     httpkey lets only one caller per process wait.
//   - How long a waiter waits after its context ended: this side returns [ErrBusy] at once, the server's
//     session goes on until the lock is free or innodb_lock_wait_timeout has passed. A transaction is then
//     rolled back; Begin and Admit on a pool are one statement, which may still claim the key, for nobody,
//     when the lock becomes free after their context has ended: their ErrBusy is onerow.ErrOutcomeUnknown as
//     well.
//   - In the caller's own transaction nothing is retried, and what is said is true when that transaction
//     commits. The error of a refused transaction is onerow.Retryable there. Begin in a transaction is of use
//     only if that commits before the work starts.
//   - A function of Do that commits by itself (DDL) breaks its transaction: the key then stays in progress.
//     One that calls Do with its own key gets ErrInProgress, and must return it.
//   - [Keys.Admit] is a guard against duplicates that may be dropped, not a record of work done.
//
// # Statements
//
// BEGIN, SAVEPOINT, ROLLBACK and COMMIT count; a pool is given. None grows with the number of keys.
//
//	Do                  4 and the function's   replay 4, of a failure or for another payload 5   failed for good 4   the row was free 9
//	Do in a transaction 4 and the function's   replay 3
//	Begin               1   replay, in progress, failed 2   the row was free 3   with a trigger on onerow_key 2
//	both, on a pool, of a key that this process saw end: replay 1, of a failure or for another payload 2, free by now 1 more
//	Complete, Fail, Release, Extend   1, 2 when the claim is lost
//	Owned               3 and the function's; lost 4
//	Admit               1 admitted, 2 refused, 3 admitted after an earlier window
//
// On a pool of pool.Open BEGIN travels with the first statement, and the result of Do with COMMIT: two round
// trips less, one more statement (the proof that the key's row was there). A replay is two round trips, for
// its read travels with COMMIT; where the result is not all of the answer, the second read is a third.
//
// On MySQL, in a transaction of a pool not made by pool.Open, Do takes one statement more: see
// onerow.Tx.Savepoint. Package keyadmin has what operators do.
//
// Open this package when a key is claimed, completed, replayed or freed in another way.
package idempotency
