// Package app puts the example together: the database, the bank, the shop, the worker of the queues, or the
// two stories.
//
//	connected ─► listen ─► migrated ─► bank ─► shop ─┬─ -serve: "listening on …", until the context ends
//	                                                 └─ else: the stories
//	exit ◄─ pool closed ◄─ bank stopped ◄─ requests ended
package app
