// Package plain reads an SQL text, in UTF-8, as far as both engines read it alike in every sql_mode, and says
// what it does to the transaction that it is run in.
//
// It is for sessions that are not guarded. What it does not know for certain is [Unclear]: a backslash in
// quotes, most executable comments, several statements, a verb that it has not met. A guarded session reads
// its texts with package sqltext, which says what [Of] says, or more of it: a test holds that.
//
// Open this package when a statement on a caller's own pool is wrongly refused, or put between savepoints.
package plain
