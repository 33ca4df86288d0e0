package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

// Work in the same database: the row and the key commit together, and a call that
// comes again gets the first one's result.
func ExampleDo() {
	ctx := context.Background()
	db, done := exampleDB(ctx) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()
	keys, err := idempotency.New(idempotency.Config{Keep: 30 * 24 * time.Hour})
	check(err)

	order := func(ctx context.Context, tx *onerow.Tx) (int64, error) {
		res, err := tx.ExecContext(ctx, "INSERT INTO customer_order (item) VALUES ('shoe')")
		if err != nil {
			return 0, err
		}
		return res.LastInsertId()
	}
	key := idempotency.Key{Tenant: "7", Operation: "order", ID: "c0ffee"}
	for range 2 {
		out, err := idempotency.Do(ctx, db, keys, key, order, idempotency.Options{Payload: map[string]any{"item": "shoe"}})
		fmt.Println("order", out.Row, out.Replayed, err)
	}
	_, err = idempotency.Do(ctx, db, keys, key, order, idempotency.Options{Payload: map[string]any{"item": "sock"}})
	fmt.Println("another payload:", errors.Is(err, idempotency.ErrMismatch))

	key.ID = "beef"
	for range 2 {
		_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
			return 0, idempotency.Permanent(errors.New("sold out"))
		})
		var failed *idempotency.Error
		fmt.Println(errors.As(err, &failed), failed.Entry.Error, failed.Replayed)
	}
	// Output:
	// order 1 false <nil>
	// order 1 true <nil>
	// another payload: true
	// true sold out false
	// true sold out true
}

// Work outside the database, in two steps. The holder's token goes along with it.
func ExampleBegin() {
	ctx := context.Background()
	db, done := exampleDB(ctx)
	defer done()
	keys, err := idempotency.New(idempotency.Config{Name: "web-1"})
	check(err)
	key := idempotency.Key{Tenant: "7", Operation: "charge", ID: "c0ffee"}

	claim, _, err := idempotency.Begin[string](ctx, db, keys, key, idempotency.Options{Expected: 10 * time.Second})
	check(err)
	_, _, err = idempotency.Begin[string](ctx, db, keys, key) // meanwhile, somebody else
	var running *idempotency.Error
	fmt.Println(errors.As(err, &running), running.Entry.Holder)

	out, err := idempotency.Work(ctx, db, keys, claim, func(ctx context.Context) (string, error) {
		return "paid 12.50", nil // ask the payment service
	})
	fmt.Println(out.Row, out.Replayed, err)

	_, replay, err := idempotency.Begin[string](ctx, db, keys, key)
	fmt.Println(replay.Row, replay.Replayed, err)
	// Output:
	// true web-1
	// paid 12.50 false <nil>
	// paid 12.50 true <nil>
}

// The first attempt did not reach the payment service, so the key is free again; the second one is slow and
// says so while it works. Its result is kept for a day.
func ExampleWork() {
	ctx := context.Background()
	db, done := exampleDB(ctx)
	defer done()
	keys, err := idempotency.New(idempotency.Config{})
	check(err)
	key := idempotency.Key{Tenant: "7", Operation: "charge", ID: "c0ffee"}

	for _, connected := range []bool{false, true} {
		claim, _, err := idempotency.Begin[string](ctx, db, keys, key)
		check(err)
		out, err := idempotency.Work(ctx, db, keys, claim, func(ctx context.Context) (string, error) {
			if !connected {
				return "", idempotency.NotDone(errors.New("connection refused"))
			}
			err := keys.Extend(ctx, db, claim, idempotency.Options{Expected: time.Hour})
			return "paid 12.50", err
		}, idempotency.Options{Keep: 24 * time.Hour})
		fmt.Printf("%q %v\n", out.Row, err)
	}
	entry, err := keyadmin.Find(ctx, db, key)
	fmt.Println(entry.Status, entry.ExpiresAt.Sub(entry.CompletedAt), err)
	// Output:
	// "" connection refused
	// "paid 12.50" <nil>
	// complete 24h0m0s <nil>
}

// Large results are kept elsewhere.
func ExampleConfig() {
	ctx := context.Background()
	db, done := exampleDB(ctx)
	defer done()
	bucket := objects{}
	keys, err := idempotency.New(idempotency.Config{
		MaxResult:  1000,
		References: bucket,
	})
	check(err)
	key := idempotency.Key{Operation: "report", ID: "2026-03"}
	for range 2 {
		out, err := idempotency.Do(ctx, db, keys, key, func(context.Context, *onerow.Tx) ([]int, error) { return make([]int, 1000), nil })
		fmt.Println(len(out.Row), out.Replayed, err)
	}
	for name, data := range bucket {
		fmt.Println(name, len(data))
	}
	// Output:
	// 1000 false <nil>
	// 1000 true <nil>
	// ""/"report"/"2026-03" 2001
}

// objects is where a program keeps large results.
type objects map[string][]byte

func (o objects) Store(_ context.Context, _ onerow.DB, key idempotency.Key, data []byte) (ref string, err error) {
	o[key.String()] = data
	return key.String(), nil
}

func (o objects) Load(_ context.Context, _ onerow.DB, ref string) ([]byte, error) { return o[ref], nil }

// A holder whose lease has ended and whose key was taken over writes nothing more.
func ExampleKeys_Owned() {
	ctx := context.Background()
	db, done := exampleDB(ctx)
	defer done()
	keys, err := idempotency.New(idempotency.Config{})
	check(err)
	key := idempotency.Key{Operation: "import", ID: "file 1"}

	slow, _, err := idempotency.Begin[string](ctx, db, keys, key, idempotency.Options{Lease: time.Microsecond})
	check(err)
	heir, _, err := idempotency.Begin[string](ctx, db, keys, key, idempotency.Options{Lease: time.Minute})
	check(err)
	write := func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO customer_order (item) VALUES ('imported')")
		return err
	}
	fmt.Println("taken over:", heir.TakenOver, heir.Token > slow.Token)
	fmt.Println("the slow one:", errors.Is(keys.Owned(ctx, db, slow, write), idempotency.ErrLost))
	fmt.Println("the heir:", keys.Owned(ctx, db, heir, write))
	// Output:
	// taken over: true true
	// the slow one: true
	// the heir: <nil>
}

// A message's key is made of what identifies it; a retry count does not count.
func ExampleKeyOf() {
	first, err := idempotency.KeyOf([]byte(`{"order": "o1", "retry": 0, "amount": 10.0}`), "order", "amount")
	check(err)
	again, err := idempotency.KeyOf([]byte(`{"amount": 10, "order": "o1", "retry": 1}`), "amount", "order")
	check(err)
	fmt.Println(first == again)
	_, err = idempotency.KeyOf([]byte(`{"amount": 10}`), "order", "amount")
	fmt.Println(err)
	// Output:
	// true
	// idempotency: no key can be made of the message: it has no field "order"
}

// Duplicate deliveries that may be dropped.
func ExampleKeys_Admit() {
	ctx := context.Background()
	db, done := exampleDB(ctx)
	defer done()
	keys, err := idempotency.New(idempotency.Config{})
	check(err)
	for range 2 {
		a, err := keys.Admit(ctx, db, idempotency.Key{Operation: "thumbnail", ID: "7.png"}, time.Minute)
		fmt.Println(a.Admitted, a.RetryAfter > 50*time.Second, err)
	}
	// Output:
	// true false <nil>
	// false true <nil>
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// exampleDB is a fresh schema on the server that the tests use.
func exampleDB(ctx context.Context) (*sql.DB, func()) {
	return dbtest.ExampleDB(ctx, migrations.Up, func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "CREATE TABLE customer_order (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, item VARCHAR(80) NOT NULL) ENGINE=InnoDB")
		return err
	})
}
