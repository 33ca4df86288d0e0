// Package onerowtest gives the tests of an application a real server, a database for each test, and what
// crashtest must know of the toolkit's own tables.
//
//	func TestMain(m *testing.M) { onerowtest.Main(m) }
//
//	func TestCreate(t *testing.T) {
//		db := onerowtest.DB(t, plan)
//		…
//	}
//
//	func TestCreateCrash(t *testing.T) {
//		w := onerowtest.Workflow(t, plan)
//		w.Call = func(ctx context.Context, db *sql.DB) error {
//			_, err := projects.Create(ctx, db, Project{UserID: 7, Name: "Email"}, repo.RequestID("c0ffee"))
//			return err
//		}
//		crashtest.Run(t, w)
//	}
//
// # Which server
//
// The first test that asks finds it, once for each test binary:
//
//  1. ONEROW_DSN, "user:password@tcp(127.0.0.1:3306)/": a server that runs. Its user needs all
//     rights on `onerow_t_%`.*, the databases of these tests; no other is touched. crashtest needs PROCESS
//     besides, and on MySQL SELECT on performance_schema.*.
//  2. ONEROW_MYSQLD, the path of a mariadbd or mysqld, which is started for these tests on a free port of
//     the loopback interface, with its data in a throw-away folder: a second or two.
//  3. mariadbd or mysqld, on PATH or where packages install it: the same.
//
// Without any of them the test fails and says what to install; it is never skipped. Package
// onerowtest/container starts a container instead, where Docker is at hand.
//
// # What is guaranteed, and what is not
//
//   - Databases of two tests are apart, whatever runs in parallel. Each is dropped when its test ends.
//   - A server that was started ends with [Main], and on Linux with the test process, however that ends.
//   - Its commits are not durable: a crash of the machine may lose them. It is for tests.
//   - A [Workflow] begins each run with empty tables, in one process. What remembers rows between calls has
//     to be made anew in Call: idempotency.Keys. A limit of rows should have a maximum below 8,192, for above
//     it the row that keeps the room is chosen by chance.
//   - Tests of several packages may use one server at once, so nothing should depend on its global counters.
//
// Open this package when tests of applications need more of a server, or when the toolkit gets a table.
package onerowtest
