// Package demo is what the examples that run once share: a database of their own,
// processes that die, and text in columns.
//
// A run ends with its database dropped, also after SIGTERM, Ctrl-C or an error. A second
// signal ends it at once, and the database stays.
//
// A [Process] is a pool whose connections can be closed under it at any moment, without
// a word to the server: what the server sees of a program that was killed. It is real as
// far as the database can tell; memory of the dead "process" is not wiped, so an
// example must not look at it.
package demo
