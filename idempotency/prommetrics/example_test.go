package prommetrics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/idempotency/prommetrics"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

// A key that is used twice counts as one that was completed and one that was replayed.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // sql.Open("mysql", "user:password@tcp(host:3306)/app")
	defer done()
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}

	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	metrics, err := prommetrics.New(registry)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := idempotency.New(idempotency.Config{Metrics: metrics})
	if err != nil {
		log.Fatal(err)
	}
	key := idempotency.Key{Tenant: "7", Operation: "charge", ID: "c0ffee"}
	for range 2 {
		if _, err := idempotency.Do(ctx, db, keys, key, func(context.Context, *onerow.Tx) (int, error) { return 42, nil }); err != nil {
			log.Fatal(err)
		}
	}
	// A series each for started, completed and replayed.
	n, err := testutil.GatherAndCount(registry, "onerow_idempotency_events_total")
	fmt.Println(n, err)
	measures, err := keyadmin.Measure(ctx, db, keys) // now and then, by one process
	fmt.Println(measures.InProgress, measures.Overdue, measures.Errored, err)
	// Output:
	// 3 <nil>
	// 0 0 0 <nil>
}
