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

// A later stage is claimed after the run that caused it, and its rows are written under a proof.
func ExampleProve() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up)
	defer done()
	if _, err := db.ExecContext(ctx, "CREATE TABLE cart (id INT PRIMARY KEY, total INT NOT NULL)"); err != nil {
		log.Fatal(err)
	}
	check := flow.Run{Flow: "cart/42", Stage: "check", RequestID: "message-1"}
	price := flow.Run{Flow: "cart/42", Stage: "price", RequestID: flow.MessageID(check.RequestID, "price")}
	_, err := flow.ClaimAfter(ctx, db, price, check) // nobody has claimed the first stage
	fmt.Println(errors.Is(err, flow.ErrLost))
	for _, claim := range []func() (flow.Result, error){
		func() (flow.Result, error) { return flow.Claim(ctx, db, check) },
		func() (flow.Result, error) { return flow.ClaimAfter(ctx, db, price, check) },
	} {
		res, err := claim()
		fmt.Println(res.Row.Stage, res.Outcome, err)
	}

	write := func(ctx context.Context, tx *onerow.Tx) error {
		if err := flow.Prove(ctx, tx, price); err != nil {
			return err // roll back and stop
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO cart (id, total) VALUES (42, 10)")
		return err
	}
	fmt.Println(onerow.InTx(ctx, db, write))
	owns, args := price.Owns() // the same in the WHERE of one statement
	n, err := onerow.Affected(ctx, db, "UPDATE cart SET total = 12 WHERE id = ? AND "+owns, append([]any{42}, args...)...)
	fmt.Println(n, err)

	owners, err := flow.Owners(ctx, db, "cart/42")
	fmt.Println(len(owners), err)
	for _, o := range owners {
		fmt.Println(o.Stage, o.RequestID == price.RequestID)
	}
	if _, err = flow.Supersede(ctx, db, flow.Run{Flow: "cart/42", Stage: "check", RequestID: "message-2"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(onerow.InTx(ctx, db, write), flow.ErrLost))
	// Output:
	// true
	// check admitted <nil>
	// price admitted <nil>
	// <nil>
	// 1 <nil>
	// 2 <nil>
	// check false
	// price true
	// true
}

// The id of a step says whose it is, to a program that passes answers on to the database of their flow.
func ExampleParseStepID() {
	id, err := flow.StepID(flow.Run{Flow: "cart/42", Stage: "check", RequestID: "message-1"}, "prices")
	if err != nil {
		log.Fatal(err)
	}
	run, name, err := flow.ParseStepID(id)
	fmt.Println(run.Flow, run.Stage, run.RequestID, name, err)
	// Output: cart/42 check message-1 prices <nil>
}
