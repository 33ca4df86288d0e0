package ordering_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/ordering"
)

// A runner's messages come early, twice and late, and are applied once and in order.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()

	type totals struct{ Meters int }
	runs := ordering.Guard[totals]{Consumer: "runs", Hold: true, First: 1}
	add := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, t *totals) error {
		t.Meters += len(m.Payload) // and write the run's rows here, through tx
		return nil
	}
	for _, m := range []ordering.Message{{Sequence: 1}, {Sequence: 3}, {Sequence: 3}, {Sequence: 2}, {Sequence: 2}} {
		m.Stream, m.Payload = "runner/3000", make([]byte, 100)
		res, err := runs.Apply(ctx, db, m, add)
		fmt.Println(m.Sequence, res.Outcome, res.Released, res.Row.State.Meters, err)
	}
	// Output:
	// 1 applied 0 100 <nil>
	// 3 held 0 100 <nil>
	// 3 held 0 100 <nil>
	// 2 applied 1 300 <nil>
	// 2 duplicate 0 300 <nil>
}

// An operator gives up a number that will not come: what is parked behind it goes on.
func ExampleGuard_Skip() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up)
	defer done()

	runs := ordering.Guard[int]{Consumer: "runs", Hold: true, First: 1}
	var add ordering.Func[int] = func(_ context.Context, _ *onerow.Tx, m ordering.Message, sum *int) error {
		*sum += int(m.Sequence)
		return nil
	}
	apply := func(sequence int64) {
		res, err := runs.Apply(ctx, db, ordering.Message{Stream: "runner/3000", Sequence: sequence}, add)
		fmt.Println(sequence, res.Outcome, err)
	}
	apply(1)
	apply(3)
	c, err := runs.Read(ctx, db, "runner/3000")
	fmt.Println("last", c.Last, "held", c.Held, "sum", c.State, err)
	n, err := runs.Release(ctx, db, "runner/3000", add) // the gap is still there
	fmt.Println("released", n, err)
	for range 2 {
		skipped, err := runs.Skip(ctx, db, "runner/3000", c.Last, add)
		fmt.Println("skipped", skipped, err)
	}
	c, err = runs.Read(ctx, db, "runner/3000")
	fmt.Println("last", c.Last, "held", c.Held, "sum", c.State, err)
	apply(2)
	// Output:
	// 1 applied <nil>
	// 3 held <nil>
	// last 1 held 1 sum 1 <nil>
	// released 0 <nil>
	// skipped true <nil>
	// skipped false <nil>
	// last 3 held 0 sum 4 <nil>
	// 2 duplicate <nil>
}

// With Keep a message that comes late is told from one that comes twice, until it is forgotten.
func ExampleForget() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up)
	defer done()

	runs := ordering.Guard[int]{Consumer: "runs", Keep: true}
	for _, sequence := range []int64{1, 3, 1, 2} {
		res, err := runs.Apply(ctx, db, ordering.Message{Stream: "runner/3000", Sequence: sequence},
			func(context.Context, *onerow.Tx, ordering.Message, *int) error { return nil })
		fmt.Println(sequence, res.Outcome, err)
	}
	n, err := ordering.Forget(ctx, db, 0, 1000) // in an application: after some weeks
	fmt.Println("forgotten", n, err)
	// Output:
	// 1 applied <nil>
	// 3 applied <nil>
	// 1 duplicate <nil>
	// 2 late <nil>
	// forgotten 2 <nil>
}

// An addition whose retry adds nothing.
func ExampleByTime() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up)
	defer done()
	for _, stmt := range []string{"CREATE TABLE score (id INT PRIMARY KEY, points INT, asked_us BIGINT)", "INSERT INTO score VALUES (7, 10, NULL)"} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	guard := ordering.ByTime{Table: "score", ID: "id", At: "asked_us"}
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) // set by who asks, once
	for range 2 {
		outcome, err := guard.Update(ctx, db, 7, asked, ordering.Change{Add: map[string]any{"points": 5}})
		fmt.Println(outcome, err)
	}
	var points int
	err := onerow.QueryRow(ctx, db, "SELECT points FROM score WHERE id = 7", nil, &points)
	fmt.Println(points, err)
	// Output:
	// applied <nil>
	// duplicate <nil>
	// 15 <nil>
}
