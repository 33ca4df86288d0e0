// Package load is what runs in the processes of a soak: clients like those of a web application, and workers.
//
// A client calls a verb of the toolkit, waits for a context of a few seconds at most, calls again where the
// outcome is unknown and the verb may be called again, and journals what it was told. Names, request ids,
// keys and messages are drawn so that clients of all processes meet.
package load
