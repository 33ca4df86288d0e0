package serial_test

import (
	"context"
	"fmt"
	"log"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/serial"
)

// An event is delivered twice and buys numbered postcards once.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, migrations.Up) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()
	postcards, err := serial.New("EURO2024")
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
	found, err := postcards.Gaps(ctx, db)
	fmt.Println(found, serial.Complete(found), err)
	// Output:
	// A: 1 to 2, replayed: false
	// B: 3 to 3, replayed: false
	// B: 3 to 3, replayed: true
	// C: 4 to 6, replayed: false
	// serial: the numbers 3 to 3 of series "EURO2024", claimed as "B", were voided: refunded; use another key to claim anew
	// [{voided 3 3 B}] true <nil>
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
	table := serial.Table{Name: "transaction_postcard", Series: "campaign", Key: "transaction_id", From: "serial_number_from", To: "serial_number_to"}
	found, err := table.Gaps(ctx, db, "EURO2024")
	fmt.Println(found, err)
	// Output: [{missing 3 3 2} {overlap 6 6 3}] <nil>
}
