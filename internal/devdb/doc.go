// Package devdb gives the demo and the tests a real MariaDB or MySQL server.
//
// Constraints and row locks are what this project is made of, so no imitation will do. [Start] finds, in this
// order:
//
//  1. ONEROW_DSN: a server that runs already. Close leaves it running.
//  2. ONEROW_MYSQLD: the server program to start privately (a path, or a name on PATH).
//  3. mariadbd, then mysqld, on PATH or in the usual folders: started privately.
//
// With none of them the error wraps [ErrNoServer] and says what to install. (The fourth way, a container,
// lives in package dbtest, so that its dependencies stay out of users' builds.)
//
// The engine is asked (--version, then SELECT VERSION()), never guessed from a file's name: Debian's mysqld
// is MariaDB.
//
// # The private server
//
//	absent ──initialise into data.new, rename──▶ data ──start──▶ running ──Close / death of this process──▶ data
//
// Guarantees:
//   - It listens on a free loopback port and on a unix socket, root has no password, and no file outside its
//     folder is used.
//   - Its folder has one user at a time. The lock on it is shared with the server process, so it is free
//     exactly when this process and its server are both gone. Start waits for a server that a killed run left
//     behind, and ends it.
//   - A killed initialisation is begun again: a data directory exists only when it is complete.
//   - A kept folder remembers the engine that made it; the other engine is refused with [ErrOtherEngine].
//   - The server has a process group of its own: ^C reaches the app, which then stops the server with Close.
//   - On Linux the server gets SIGTERM when this process dies, however it dies. On other systems such a
//     server stays until the next Start on its folder.
//   - Throw-away folders that killed runs left in the temp folder are removed by a later Start.
//
// # The cluster
//
// [StartCluster] gives several servers that replicate to each other and all take writes: MariaDB Galera, for
// which [EnvGalera] names what scripts/get-galera has got, or MySQL Group Replication.
//
//   - Each node is a private server with a throw-away folder, and ends like one.
//   - Its ports are chosen for the life of the cluster, so that a node that was killed comes back where it
//     was. Several clusters may run on one machine.
//   - A killed process loses nothing that it had acknowledged.
//   - A node of Galera that comes back copies the data of another one, which takes no writes meanwhile.
//
// Not guaranteed: with Options.Durable false a crash of the machine may lose or corrupt the data; any local
// user who can connect to a loopback port is root on the private server. It is a server for demos and tests.
//
// Open this package when a server for tests and demos is found, started or stopped in another way.
package devdb
