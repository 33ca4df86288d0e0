package oteltrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/oteltrace"
	"github.com/onerow/onerow/serial"
)

// A verb is a span, and so is its transaction.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx, func(ctx context.Context, db *sql.DB) error { return migrations.Up(ctx, db) })
	defer done()
	spans := tracetest.NewInMemoryExporter() // an OTLP exporter, in an application
	ctx = onerow.WithTracer(ctx, oteltrace.New(sdk.NewTracerProvider(sdk.WithSyncer(spans))))

	invoices, err := serial.New("invoices")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := invoices.Claim(ctx, db, "order 7", 1); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name, span.Attributes)
	}
	// Output:
	// onerow.InTx []
	// serial.Claim [{"onerow.series":"invoices"}]
}
