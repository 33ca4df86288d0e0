// Package flow lets one request own a piece of work that takes several messages, several processes and
// answers of other systems: a cache that is rebuilt, a cart that is validated.
//
// # Ownership
//
// A flow has a name and one or more stages; each stage has at most one owner, the request id of the message
// that started it:
//
//	          ┌──── the same id again: Redelivered, passes ────┐
//	          ▼                                                │
//	Claim ─► running ──────────── Finish (the owner, last) ─► finished ─► Claim: Done
//	          │  ▲
//	          │  └─ Supersede (anyone, a new id)
//	          └───────────────────────────────────────────► superseded ─► Claim, Prove: ErrSuperseded
//
// What is guaranteed:
//
//   - A stage admits one request id. The primary key decides; any other id is [ErrOwned] until the owner has
//     finished or was superseded.
//   - A redelivery of the owner's message passes again, so a crash before Finish repeats the last work and
//     never loses it. After Finish the id is Done, until [Forget], so a late redelivery does not run
//     everything again.
//   - A write that is proven ([Prove] first in its transaction, or [Run.Owns] in its WHERE) commits only
//     while its request is the owner: Supersede waits for it, or it waits for Supersede, is refused, and the
//     old run learns it ([ErrLost]).
//   - Finish ends all stages of a flow in one commit, and so does Supersede.
//   - An answer finds its step by the step's id, which contains the request id. An answer to a step of a run
//     that has ended is recognised: [ErrLost].
//
// Claim a later stage with [ClaimAfter] the run that caused it: a message that an old run sent before it was
// superseded is refused then.
//
// Supersede in the transaction that changes what is worked on, as its first statement; the message that
// starts the new run carries the same request id and finds itself Redelivered. If only that message
// supersedes, the old run is the owner until it comes, and its proven writes mix its old input with the new
// one. For the same reason read what a write depends on after the proof, in the proof's transaction:
//
//	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
//		if _, err := flow.Supersede(ctx, tx, flow.Run{Flow: "cart/7", RequestID: id}); err != nil {
//			return err
//		}
//		// … the cart's new items, and the message with this id, through tx …
//	})
//
// # Messages
//
// Package flow/sqs reads messages of SQS, direct or wrapped by SNS, and sends them again under the same
// request id. [MessageID] derives the id of a message that the flow sends from the request id and the step,
// so a repeated run sends the same id and the receiver, who claims by it, drops it.
//
// # Not guaranteed
//
// That work outside the database is not done twice: a repeated run repeats it, so each of its actions must be
// idempotent or go through package idempotency. That a superseded run stops at once: it stops at its next
// proven write. Ids that [Forget] has removed are admitted again.
//
// On a cluster of several primaries locks do not reach other nodes, but a proof writes the stage's row, as do
// Finish and Supersede: the certifier refuses one of two. [Run.Owns] only reads that row, so use Prove there.
//
// # What it costs
//
// Statements beside BEGIN and COMMIT, which a call on a pool adds. None grows with the data; Finish and
// Supersede have 2 more where a stage is claimed while they wait for another. In a caller's transaction
// Claim, Finish and Supersede have a SAVEPOINT besides, and go back to it when they fail.
//
//	Claim, admitted     2     Prove             1, lost 2
//	Claim, redelivered  2     Finish            3, again 2
//	Claim, refused      3     Supersede         5, again 3
//	Claim, done         4     Await             2, again 3
//	ClaimAfter besides  1     Answer            3
//
// Open this package when a step of several messages is claimed, proved, finished or superseded in another
// way.
package flow
