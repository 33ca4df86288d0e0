// Package app puts the example together: the database, the bank, the shop, the worker of the queues, or the
// two stories.
//
//	listen ─► server found or started ─► migrated ─► bank ─► shop ─┬─ -serve: "listening on …", until the context ends
//	                                                               └─ else: the stories
//	exit ◄─ private server stopped ◄─ pool closed ◄─ bank stopped ◄─ requests ended
package app
