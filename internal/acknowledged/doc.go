// Package acknowledged proves of each parameter and field of the exported API that takes
// SQL text what the server made of it: another session is asked after every call.
//
// The tests walk the API, so what is new there fails until it has a case, or a word on why it is no SQL.
//
// Open this package when the API takes text of SQL in a new place.
package acknowledged
