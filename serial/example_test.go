package serial_test

import (
	"context"
	"fmt"
	"log"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// An event is delivered twice and buys numbered postcards once.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()
	postcards, err := serial.New("EURO2024", serial.First(1001))
	if err != nil {
		log.Fatal(err)
	}
	paid := func(transaction string, amount int64) {
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			res, err := postcards.Claim(ctx, tx, transaction, amount)
			if err != nil {
				return err
			}
			fmt.Printf("%s: %d to %d, replayed: %v\n", transaction, res.Row.From, res.Row.To, res.Replayed)
			return nil // the rows of the order are written here, by upserts
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	paid("A", 2)
	paid("B", 1)
	paid("B", 1) // the second delivery
	paid("C", 3)
	if _, err := postcards.Void(ctx, db, "B", "refunded"); err != nil {
		log.Fatal(err)
	}
	paid("B", 1)
	found, err := gaps.Find(ctx, db, postcards)
	fmt.Println(found, gaps.Complete(found), err)
	claim, err := postcards.Find(ctx, db, "C")
	fmt.Println(claim.Amount(), "from", claim.From, err)
	// Output:
	// A: 1001 to 1002, replayed: false
	// B: 1003 to 1003, replayed: false
	// B: 1003 to 1003, replayed: true
	// C: 1004 to 1006, replayed: false
	// serial: the range was voided: 1003 to 1003 of series "EURO2024", claimed as "B": refunded; use another key to claim anew
	// [{voided 1003 1003 B}] true <nil>
	// 3 from 1004 <nil>
}

// The same report for a table whose numbers came from elsewhere.
func ExampleTable() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up)
	defer done()
	for _, stmt := range []string{
		"CREATE TABLE transaction_postcard (transaction_id INT PRIMARY KEY, campaign VARCHAR(64), serial_number_from INT, serial_number_to INT)",
		"INSERT INTO transaction_postcard VALUES (1, 'EURO2024', 1, 2), (2, 'EURO2024', 4, 6), (3, 'EURO2024', 6, 7)",
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	table := gaps.Table{Name: "transaction_postcard", Series: "campaign", Key: "transaction_id", From: "serial_number_from", To: "serial_number_to"}
	found, err := table.Find(ctx, db, "EURO2024")
	fmt.Println(found, err)
	// Output: [{missing 3 3 2} {overlap 6 6 3}] <nil>
}
