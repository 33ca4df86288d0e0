// Package dbtest gives each test a fresh schema on a real server.
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
//	func TestCreate(t *testing.T) {
//		db := dbtest.Open(t, dbtest.Isolation(sql.LevelRepeatableRead))
//		…
//	}
//
// The server is found once per test binary, when a test first asks for one: ONEROW_DSN, as withserver and
// withcontainer set it, else what package devdb finds and starts. Having no server fails the test; it is
// never skipped. The engine and its version are printed once, for a green run on MariaDB is not a green run
// on MySQL.
//
// Schemas are named onerow_t_PID_N and dropped when their test ends; a killed run leaves them on a server
// that was only used. Several packages may use one server at once, so nothing in a test may depend on global
// counters or settings of the server, unless the test starts a server of its own with devdb.Start.
//
// Open this package when a test needs something of its database or its pool.
package dbtest
