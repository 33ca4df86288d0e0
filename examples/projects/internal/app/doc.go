// Package app puts the example application together and runs it: the database
// server, the migrations, the store, the pages and the JSON interface, and inside
// the same process the cascade worker, the quota's sweep and the sweep of files.
//
//	listen ─► server found or started ─► migrated and verified ─► "listening on …"
//	                                                                     │
//	        the context ends (SIGTERM, Ctrl-C), or a part fails          ▼
//	exit ◄─ private server stopped ◄─ pool closed ◄─ requests ended, leases given back
//
// The way back takes about two seconds at most, and what a private server needs to
// stop. A request that is not finished then is cut off; the toolkit's verbs leave
// nothing half done.
package app
