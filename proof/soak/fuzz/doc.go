// Package fuzz is what the random proofs share: flags, a private server, a proxy that cuts connections within
// a packet, a killer of sessions, and a list of what is broken.
//
//	                   draws from the seed
//	clients ─► Cutter ─► server ◄─ Killer
//	   │                   │
//	   └─ told ──► Findings ◄── found
//
// A run ends with [Main]: 0, nothing is broken; 1, something is, and it is listed with the seed; 2, the run
// itself failed, or showed nothing. The first SIGINT ends the load early, and what was done is still judged;
// the second one ends everything. The seed decides what is drawn, the machine decides when.
package fuzz
