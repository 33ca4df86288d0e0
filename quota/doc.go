// Package quota keeps one flag right: which of an owner's active rows are over the owner's limit. The limit
// is the application's ([Limit]), the flag and the order are declared in the plan ([schema.Quota]); by
// default the oldest rows stay within it. The flag is eventually right and fail safe: a new row is within the
// quota until a recalculation says otherwise.
//
//	rule, err := quota.New(plan, "project", quota.LimitQuery(`SELECT projects FROM user WHERE id = ?`))
//	err = quota.Mark(ctx, tx, "project", userID)   // in the transaction of what may move the quota
//	err = rule.Settle(ctx, db, userID)             // when it has committed
//	err = quota.NewSweeper(db, quota.Config{}, rule).Run(ctx)
//
// # Marks and recalculations
//
// Every mutation that may move a quota (a create, archive, activate, delete, a new limit, a write to the
// column of the order) appends a mark in its own transaction. A mark is a row of its own, so it waits for
// nobody; an upsert would be a hot row, and an INSERT IGNORE deadlocks beside the recalculation that deletes
// it. A recalculation is a transaction of its own:
//
//	mutation:       … ─ mark ─ COMMIT
//	                      │
//	recalculation:  bump generation ─ read marks ─ limit ─ boundary ─ wrong rows ─ set flags ─ delete marks ─ COMMIT
//	                     ▲                                                                           │
//	                     └── the next one of this owner waits here ──────────────────────────────────┘
//
// Why it converges:
//
//   - Two recalculations of an owner never overlap: the bump locks the owner's row until the end. The bump is
//     the first statement, so at REPEATABLE READ the snapshot is taken after the wait, not before it: a
//     recalculation sees all that the one before it saw and did, and a slow one cannot overwrite a newer one.
//   - A mark that was read was committed with its mutation, so what is read later contains the mutation.
//     Exactly the marks that were read are deleted, by id; never all up to an id, because ids commit out of
//     order. At READ COMMITTED a recalculation may see half of a mutation that commits meanwhile; the
//     mutation's mark remains, and the next recalculation corrects the result.
//   - A crash anywhere rolls the whole recalculation back, the marks stay, and the [Sweeper] finds them.
//
// In a transaction of the caller's the snapshot may be older than the bump. So the generation is read first,
// as the snapshot has it; when the bump does not answer with the next number, somebody recalculated in
// between: nothing is written then but one more mark, for later ([Result.Postponed]).
//
// On a cluster of several primaries the bump does not wait for other nodes, but both wrote the same row: the
// certifier refuses one of the two, which runs again.
//
// # What it costs
//
// A mark is one statement. A recalculation sends 4 statements and the limit's own when all is right, one less
// for an owner without a limit; then one for each 1,000 flags that it sets, one for each 1,000 marks, and one
// to note the change. It writes wrong flags only; rows that are right cost a skip over index entries, as many
// as the limit says. A transaction takes on 10,000 marks and 10,000 flags, the rest is for the next.
// [Rule.Settle] without a mark is one statement, a sweep without work two for each rule.
//
// Setting a flag touches neither the row's version nor updated_at, and locks that row by its primary key;
// nothing else of the application's is locked.
//
// # Not guaranteed
//
// An owner in text is one owner in one spelling: where a collation takes "Bob" and "bob" for the same, their
// recalculations may overlap, and the re-check puts the flags right.
//
// That a limit is never exceeded for a moment: this flags, it does not refuse. A flag other than 0 or 1, and
// a mutation that does not mark: the sweep looks again for [Config.Recheck] at owners that changed, and at no
// others.
//
// Open this package when the wrong rows of an owner are flagged.
package quota
