package flow_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

// A cart is validated by another system. A new request replaces the running one; the
// old one's answer is recognised as stale.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()

	old := flow.Run{Flow: "cart/42", RequestID: "message-1"}
	res, err := flow.Claim(ctx, db, old)
	fmt.Println(res.Outcome, err)
	res, err = flow.Claim(ctx, db, old) // delivered twice
	fmt.Println(res.Outcome, err)
	asked, err := flow.Await(ctx, db, old, "prices", nil) // asked.ID goes with the question
	if err != nil {
		log.Fatal(err)
	}

	run := flow.Run{Flow: "cart/42", RequestID: "message-2"}
	_, err = flow.Claim(ctx, db, run)
	fmt.Println(errors.Is(err, flow.ErrOwned))
	res, err = flow.Supersede(ctx, db, run) // the cart has changed
	fmt.Println(res.Outcome, err)
	again, err := flow.Await(ctx, db, run, "prices", nil)
	if err != nil {
		log.Fatal(err)
	}

	for _, id := range []string{asked.ID, again.ID} {
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			step, err := flow.Answer(ctx, tx, id, []byte("12.50"))
			if err != nil {
				return err
			}
			fmt.Printf("%s: %s\n", step.Run.RequestID, step.Answer) // and the cart's rows, through tx
			return nil
		})
		fmt.Println(err)
	}
	_, err = flow.Finish(ctx, db, run)
	if err != nil {
		log.Fatal(err)
	}
	res, err = flow.Claim(ctx, db, run) // a late redelivery
	fmt.Println(res.Outcome, err)
	// Output:
	// admitted <nil>
	// redelivered <nil>
	// true
	// admitted <nil>
	// flow: request "message-1" lost stage "" of flow "cart/42" to request "message-2"; stop
	// message-2: 12.50
	// <nil>
	// done <nil>
}
