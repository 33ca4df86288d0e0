package quota_test

import (
	"context"
	"fmt"
	"log"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// An owner has three rows and may have two: the newest is flagged.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "screen", Owner: "user_id", Quota: schema.Quota{Flag: "is_over_quota"},
	}}}
	for _, stmt := range plan.DDL() { // in an application: a migration of its own
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}

	limits := map[int64]int{7: 2} // of the application's tables; quota.LimitQuery asks them
	screens, err := quota.New(plan, "screen", func(_ context.Context, _ *onerow.Tx, owner any) (int, error) {
		limit, ok := limits[owner.(int64)]
		if !ok {
			return 0, quota.ErrNoOwner
		}
		return limit, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	upload := func(ctx context.Context, tx *onerow.Tx) error { // package repo marks by itself
		if _, err := tx.ExecContext(ctx, "INSERT INTO screen (user_id, created_at, updated_at) VALUES (7, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"); err != nil {
			return err
		}
		return quota.Mark(ctx, tx, "screen", 7)
	}
	over := func() {
		var n int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM screen WHERE is_over_quota = 1", nil, &n)
		fmt.Println("over quota:", n, err)
	}
	for range 3 {
		if err := onerow.InTx(ctx, db, upload); err != nil {
			log.Fatal(err)
		}
	}
	res, err := screens.Recalculate(ctx, db, 7)
	fmt.Println("changed", res.Changed, "marks", res.Marks, err)
	over()

	limits[7] = quota.Unlimited
	if err := quota.Mark(ctx, db, "screen", 7); err != nil {
		log.Fatal(err)
	}
	swept, err := quota.NewSweeper(db, quota.Config{}, screens).RunOnce(ctx) // Run does it again and again
	fmt.Println("recalculated", swept.Recalculated, err)
	over()
	// Output:
	// changed 1 marks 3 <nil>
	// over quota: 1 <nil>
	// recalculated 1 <nil>
	// over quota: 0 <nil>
}
