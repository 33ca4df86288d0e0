// Package serial gives out the numbers of a series without gaps and without overlap, inside the transaction
// of the business that needs them: invoice numbers, tickets, numbered postcards.
//
//	postcards, err := serial.New("EURO2024")
//	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
//		// … the rows of the order …
//		got, err := postcards.Claim(ctx, tx, "transaction/"+id, 3) // got.Row.From to got.Row.To
//		// … the numbers into the order …
//		return err
//	})
//
// # A claim
//
// A claim has a key, which names the event that needs the numbers. One key has one range in the whole series,
// for ever. So the key says whose event it is: two users may send the same Idempotency-Key.
//
//	              claim key inserted ─► counter moved on ─► range written ─► … ─► COMMIT ─► claimed ─► voided
//	Claim ─► INSERT      ▲                    ▲                                      │
//	           │         │ the same key waits │ other keys of the series wait        │
//	           │         └────────────────────┴──────── nothing happened ◄── ROLLBACK┘
//	           └─ 1062: the range of the first claim (Replayed)
//
// On a pool of pool.Open the counter moves first and the key is inserted with its range, all in one packet.
//
// What is guaranteed:
//
//   - Two committed claims of a series never share a number, and there is no number
//     between them: a transaction that is rolled back, or dies, takes its move of the
//     counter with it.
//   - The same key gets the same range again, however often, in parallel and after
//     any crash. So a raced or repeated event cannot burn numbers or spend them twice.
//     Another amount under the same key is [ErrMismatch], a voided key [ErrVoided].
//   - The range is committed with the caller's rows, or neither is.
//
// # The price of no gaps
//
// Gapless series block writers: from its claim until its COMMIT a transaction holds the counter, and every
// other claim of that series waits. Throughput of one series is therefore one commit after another, so
//
//   - claim last, just before COMMIT, and never before a call to another system; best of
//     all with the statement that uses the numbers, by [Series.ClaimWith],
//   - claim n numbers at once instead of one n times,
//   - use several series where the numbers allow it (one for each shop, or month),
//   - and use AUTO_INCREMENT where gaps do not matter.
//
// Two transactions that claim twice each may deadlock: one holds the counter and waits
// for a key, the other holds that key and waits for the counter. The server refuses one
// of them, and onerow.InTx runs it again. To avoid it, claim all that a transaction
// needs from a series in one call, and several series always in the same order.
//
// On a cluster of several primaries the wait does not reach other nodes, but both
// transactions wrote the same counter: the certifier refuses one, which runs again.
//
// # Not guaranteed
//
//   - That numbers are in the order of the events: they are in the order in which claims
//     reached the counter.
//   - That numbers come back: [Series.Void] marks a range as unused and keeps its numbers,
//     because somebody may have seen them.
//   - Anything for rows that other programs change: package serial/gaps finds the gaps, also
//     in tables that never used this package.
//
// # What it costs
//
// Statements, without BEGIN and COMMIT, which a call on a pool adds. None grows with the data.
//
//	Claim              3, ClaimWith those that use the numbers besides
//	Claim, replayed    2
//	Void               2
//	Find               1
//
// On a pool of pool.Open, Claim takes 2 statements instead of 3, in one packet with BEGIN, COMMIT and what
// ClaimWith adds. If that packet is refused, perhaps because the key has its numbers already, the statements
// above follow. In a transaction of onerow.InTx the 3 of a Claim are one packet.
//
// Open this package when a number is given out twice, or to the wrong claim.
package serial
