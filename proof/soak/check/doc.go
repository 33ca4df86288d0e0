// Package check holds the tables at the end of a soak against what the clients were told.
//
// It reads when nothing runs any more: all processes have ended, the server was restarted, the queue is
// drained, the marks are settled. Every rule is exact: what was acknowledged is there once; what was refused,
// or failed with an error that says "not done", is not there; what is unknown is there once or not at all.
// Where calls on one row overlapped, so that their order is not known, the last state and the last name are
// not judged, and everything else is.
package check
