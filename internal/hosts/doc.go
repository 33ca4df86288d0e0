// Package hosts opens sessions and sets them up: on the one server of a configuration, or on the first of
// several that can be used, so that all who write agree on one node.
//
// A host that refuses, does not answer in time, takes no writes or is outside of its cluster's majority is
// left out for a second; when none is left, those that are left out are tried as well. It guarantees that a
// new session was set up as [SetUp] says, and says of it what the server calls it and whether it takes
// several statements at once. It does not look at what is sent afterwards: package guard does, and tells by
// [Stay.Met] what it met, so that a host that no longer takes writes loses its sessions.
//
// Statements: the set-up, with CONNECTION_ID(); where several are sent at once, one for Galera, once for a
// server; for one of several hosts, whether it can be used, in one. KILL of a session in [Peer.Kill].
//
// Open this package when a session is opened on the wrong host, or is set up with another statement.
package hosts
