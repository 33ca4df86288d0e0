// Package ordering keeps messages and updates in their order when the way that they come does not: late,
// twice, too early.
//
//	by sequence      [Guard]: a stream of numbered messages, and the consumer's own state
//	by time          [ByTime]: an update applies only if its sender made it later than the last
//	by what was read [UpdateIfUnchanged]: read, decide, write if unchanged; [Park] what cannot be
//
// # By sequence
//
// A context row for each stream holds the sequence of the last message and the consumer's state, a value of a
// type of its own. Apply calls the consumer's function for the messages that are next:
//
//	runs := ordering.Guard[RunState]{Consumer: "runs"}
//	res, err := runs.Apply(ctx, db, ordering.Message{Stream: "user/3000", Sequence: 2, Payload: body},
//		func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *RunState) error {
//			s.Meters += 199                               // the state is written last, for you
//			return saveTotals(ctx, tx, s)                 // and this commits with it
//		})
//
// What comes of a message:
//
//	                            newer                    ┌──────────── Applied
//	lock context ─► read ───────────────────► Reject ────┘ function ─► message row ─► context ─► COMMIT
//	                 │                        Hold ──┬─ the next: as above, then the parked ones after it
//	                 │                               └─ too early: Held (parked) ── the gap closes ─► applied
//	                 │ not newer
//	                 └─► Stale; with kept messages Duplicate (seen) or Late (not seen)
//
// What is guaranteed:
//
//   - The function's writes, the message row and the context commit together. A crash between any two writes,
//     and a redelivery, leave the same tables as no crash.
//   - The function is called for increasing sequences only, one call of a stream at a time: the first
//     statement locks the context row until COMMIT.
//   - Without Hold the tables are those of an ordered run of the messages that raised the maximum. With it:
//     those of an ordered run of all messages, each once.
//   - The function gets the state as JSON gives it back, and so does the caller, in whatever transaction the
//     message before was applied. A state that JSON would change (a number in an interface that no float64
//     is, a text that is not UTF-8, fields of one name) is [ErrState], and the message is not applied.
//   - A refused message writes nothing (inside a caller's transaction perhaps an empty context row).
//
// The reset rule: a sender that starts its sequence anew (a new device, an installation) raises the message's
// Epoch, a number or a time that it keeps. A message of a higher epoch is newer than all of a lower one, with
// Hold from its first number on; what is left of the lower one is stale then. The rule is not "sequence 1
// resets": a redelivered message 1 would reset again.
//
// The function runs again when its transaction does, so its effects belong into the transaction; in a crash
// nothing of them is left. With Hold the function's error for a parked message, a call to elsewhere that
// timed out as well as any other, holds the stream, not the messages before it: [ErrHeld].
//
// On a cluster of several primaries the lock does not reach other nodes, but whoever applies or parks a
// message writes the context row: the certifier refuses one of two, which runs again.
//
// # By time
//
// An update carries the time at which its sender made it (not when it arrived) and applies only if that is
// later than the stored one. Adding is guarded in the same way: a retry carries the same time and adds
// nothing. That also refuses an addition that was overtaken; where every addition counts use the sequence
// guard in mode Hold, or an idempotency key.
//
// The time is kept in microseconds, in a BIGINT or a DATETIME(6). A column that rounds it, or shows it in the
// session's time zone, would let an update apply twice: [ErrInvalidArgument]. Call [ByTime.Verify] at the
// start.
//
// # Not guaranteed
//
// That two senders' clocks agree, or never tick twice at once: one stream, or one row, should have one
// sender. Duplicates of messages older than what [Forget] left, or newer than the snapshot of the caller's
// transaction, are Late or Stale. Gaps that never close: [Guard.Skip] says that they will not.
//
// # What it costs
//
// Statements beside the function's own, and beside BEGIN and COMMIT, which a call on a pool adds. Only the
// function's grow with the number of messages that a closing gap releases (at most 500 in a transaction).
//
//	Apply, Reject                       3, with kept messages 4
//	Apply, refused                      2, with kept messages 3
//	Apply, Hold, the next, none parked  3, with kept messages 4
//	Apply, Hold, parked                 4
//	a closing gap, besides              at most 6, of them 5 in a transaction of its own
//	a new epoch, others parked, besides 1
//	Read                                1
//	ByTime.Update                       1, refused 2
//	ByTime.Verify                       1
//	UpdateIfUnchanged                   1 read and 1 write for each attempt
//	Park                                1
//	Forget                              2 for each 200 messages, and 1 for each consumer
//
// Open this package when a late, early or repeated message is applied or refused wrongly.
package ordering
