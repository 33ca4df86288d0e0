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
	runs, err := ordering.New[totals](ordering.Config{Consumer: "runs", Mode: ordering.Hold, First: 1})
	if err != nil {
		log.Fatal(err)
	}
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
		outcome, err := guard.Update(ctx, db, 7, asked, ordering.Add("points", 5))
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
