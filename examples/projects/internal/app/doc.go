// Package app puts the example application together and runs it: the database,
// the migrations, the store, the pages and the JSON interface, and inside
// the same process the cascade worker, the quota's sweep and the sweep of files.
//
//	listen ─► connected ─► migrated and verified ─► "listening on …"
//	                                                       │
//	  the context ends (SIGTERM, Ctrl-C), or a part fails  ▼
//	exit ◄─ pool closed ◄─ requests ended, leases given back
//
// The way back takes about two seconds at most. A request that is not finished then is cut off; the toolkit's
// verbs leave nothing half done.
package app
