// Package edgefuzz works where number types end, with concurrent callers:
//
//	go run -C proof -race ./soak edges -minutes 20 -seed 7
//
// Each round begins with empty tables. Then, all at once, on pools of three sql_modes, one not strict:
//
//	numbers   series that begin at 0, near 2^63 and between, which callers exhaust, repeat, void and roll back
//	amounts   for TINYINT to BIGINT, signed and unsigned: amounts and reservations at the ends of the type,
//	          beyond them and below 0, under maxima that are raised and lowered; owners 0, -1, ±2^63
//	rows      ids and owners at the ends of these types and 0, of the application's and of AUTO_INCREMENT, with
//	          rows below them, and what AUTO_INCREMENT has left
//	flags     quotas of 0, 1, the largest and the least int, by a column that holds 0 and 2^64-1
//
// # What is judged
//
// When the callers have ended, the worker and the sweep have done all that is due, and:
//
//   - A series has its numbers from the first on, once each; a claim has what was answered. What was refused
//     as exhausted did not fit, and what is left can be claimed to the last number.
//   - What is in use below a limit is what the rows and reservations sum up to, beyond 2^60 too where
//     there is no maximum, a count changes nothing, and nothing was admitted above the largest maximum of
//     the round. What no limit takes is ErrAmount.
//   - A row is where its caller's verbs have put it, with its id, be it 0, values and what is below it; lists
//     have each row once. What was deleted comes back from the trash as it was.
//   - As many rows are flagged as there are beyond the quota, and the right ones.
//   - An error is one that the verb names.
package edgefuzz
