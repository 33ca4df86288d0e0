// Package sqltext reads the text of an SQL statement as MySQL and MariaDB read it,
// and says what it does to the session that it is sent to.
//
// [Classify] answers for the state of the session: whether a text begins, ends or
// leaves a transaction, sets autocommit or the way in which further texts are read, reads, or writes. What it
// does not understand for certain is [Unclear], the zero [Kind]: CALL and PREPARE, several statements,
// executable comments, a quote that is not closed, words that it does not know.
//
// [Statement.Travels] answers for the packet: whether a text is one statement, with nothing
// after it that could swallow what is appended.
//
// How a text falls into words depends on the session's sql_mode: what reads the same in
// all modes is understood. It also depends on the character set of the client, see
// [Charset].
//
// Two things no text shows: a view can call a stored function, and a trigger runs after
// any write. Neither can commit.
//
// Open this package when a statement is taken for something that it is not.
package sqltext
