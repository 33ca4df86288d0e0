// Command runners shows package ordering at work. Devices of runners send a message
//
//	{"user_id": 1, "distance_meters": 92, "timestamp_utc": 1767258030, "sequence_id": 1, "run_id": 11}
//
// every 30 seconds, and the messages arrive late, twice and out of order. Two consumers
// read the same deliveries side by side, one in mode Reject and one in mode Hold. Each
// keeps the messages, the totals of the runs and the user's tendency, and each dies now and
// then between two writes, or after COMMIT and before it has acknowledged the message,
// which is then delivered again.
//
//	make demo DEMO=runners          or: go run -C examples ./runners [-dsn DSN] [-seed 1] [-v]
//
// What each leaves is compared with ordinary code without any guard that gets the
// messages in their order, once each, and never dies:
//
//	mode Reject   the same as an ordered run of the messages that raised the maximum
//	mode Hold     the same as an ordered run of all messages
//
// Then the other ways to keep an order: weights by the time of their measurement, shoes that are updated
// without a lock, and a dead letter for what could not be applied.
//
// The exit code is 0 when every row is the same, 1 when one differs, something failed or the
// run was stopped. It uses a database of its own, on the server that ONEROW_DSN names, and drops
// it at the end.
package main
