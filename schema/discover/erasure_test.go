package discover_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
)

// TestErasure: each column that names a person in a way of its own is found, and what somebody has decided is
// not.
func TestErasure(t *testing.T) {
	db, ctx := livetest.Migrated(t,
		"CREATE TABLE customers (id BIGINT PRIMARY KEY, mail VARCHAR(40))",
		"CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id BIGINT NOT NULL, amount BIGINT, KEY (customer_id), FOREIGN KEY (customer_id) REFERENCES customers (id))",
		"CREATE TABLE order_lines (id BIGINT PRIMARY KEY, orders_id BIGINT, KEY (orders_id))",
		"CREATE TABLE visits (at DATETIME, customer_id BIGINT)",
		"CREATE TABLE newsletter (id BIGINT PRIMARY KEY, who BIGINT, sent INT)",
		"CREATE TABLE notes (id BIGINT PRIMARY KEY, subject_type VARCHAR(20), subject_id BIGINT)",
		"CREATE TABLE outbox (id BIGINT PRIMARY KEY, payload JSON, body LONGTEXT, plain TEXT)",
		"INSERT INTO customers VALUES (1, 'a'), (7000000001, 'b'), (9000000000, 'c'), (90000000000, 'd')",
		"INSERT INTO orders VALUES (1, 1, 3), (2, 9000000000, 2), (3, 1, 1)",
		"INSERT INTO newsletter VALUES (1, 7000000001, 1), (2, 9000000000, 1), (3, 90000000000, 2), (4, NULL, 2)",
		`INSERT INTO outbox VALUES (1, '{"order": {"customerId": 9000000000}}', 'not JSON, customer_id', '[1]'), (2, '{"x": 1}', '[{"customer_id": 1}]', '{"customers": 2}')`,
	), t.Context()
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "customers", Key: []string{"id"}},
		{Name: "orders", Key: []string{"id"}, Parents: []schema.Edge{{Table: "customers", Columns: []string{"customer_id"}}}},
	}}
	dbtest.Exec(t, db, "ANALYZE TABLE customers")
	found := func() (list []string) {
		t.Helper()
		all, err := discover.Erasure(ctx, db, plan, "customers")
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			list = append(list, fmt.Sprintf("%s.%s of %q: %s", u.Table, u.Column, u.Of, u.Why))
		}
		slices.Sort(list)
		return list
	}
	want := []string{
		`newsletter.who of "customers": 3 of 3 values are there`,
		`notes.subject_id of "": rows of several tables may be meant, as subject_type says`,
		`order_lines.orders_id of "orders": its name says orders`,
		`outbox.body of "customers": 1 of the first documents in it name one`,
		`outbox.payload of "customers": 1 of the first documents in it name one`,
		`visits.customer_id of "customers": its name says customer`,
	}
	if got := found(); !slices.Equal(got, want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
	plan.Tables = append(plan.Tables,
		schema.Table{Name: "order_lines", Key: []string{"id"}, Parents: []schema.Edge{{Table: "orders", Columns: []string{"orders_id"}}}},
		schema.Table{Name: "notes", Key: []string{"id"}, Parents: []schema.Edge{{Table: "customers", Columns: []string{"subject_id"}, When: map[string]string{"subject_type": "customer"}}}},
		schema.Table{Name: "newsletter", Key: []string{"id"}, Parents: []schema.Edge{{Table: "customers", Columns: []string{"who"}, OnDelete: schema.OnDeleteDetach}}})
	plan.Spared = []schema.Spared{{Table: "Visits", Column: "customer_id", Because: "gone after a day"}, {Table: "outbox", Column: "payload", Because: "purged"}, {Table: "outbox", Column: "body", Because: "purged"}}
	if got := found(); len(got) != 0 {
		t.Errorf("decided on, and found: %q", got)
	}
	if _, err := discover.Erasure(ctx, db, plan, "nobody"); !errors.Is(err, schema.ErrUnknownResource) {
		t.Error(err)
	}
	plan.Spared[0].Because = " "
	if _, err := discover.Erasure(ctx, db, plan, "customers"); !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), "why it stays") {
		t.Error(err)
	}
}

// TestErasureByChance: where keys are close together, that a number is one of them says nothing.
func TestErasureByChance(t *testing.T) {
	db := livetest.Migrated(t,
		"CREATE TABLE customers (id BIGINT PRIMARY KEY)", "CREATE TABLE shelf (id BIGINT PRIMARY KEY, height BIGINT)",
		"INSERT INTO customers VALUES (1), (2), (3), (4), (5)", "INSERT INTO shelf VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
	)
	plan := schema.Plan{Tables: []schema.Table{{Name: "customers", Key: []string{"id"}}}}
	dbtest.Exec(t, db, "ANALYZE TABLE customers")
	if got, err := discover.Erasure(t.Context(), db, plan, "customers"); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
