package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
)

// consumers are the columns of the closing table.
var consumers = []string{"reject", "reject, ordered", "hold", "hold, ordered"}

// A run's metres by each of the consumers; over the whole of a small table.
const sqlRuns = `SELECT user_id, run_id,
  SUM(CASE WHEN consumer = 'reject' THEN meters ELSE 0 END), SUM(CASE WHEN consumer = 'reject, ordered' THEN meters ELSE 0 END),
  SUM(CASE WHEN consumer = 'hold' THEN meters ELSE 0 END), SUM(CASE WHEN consumer = 'hold, ordered' THEN meters ELSE 0 END)
FROM run_total GROUP BY user_id, run_id ORDER BY user_id, run_id`

// compare prints the closing table and answers errDiffer unless every row is the same.
func compare(ctx context.Context, d *demo.Database, page *demo.Page, hold *consumer, raised, all int) error {
	page.Step("4. The runs in metres, beside ordered runs without a guard, of the %d messages that raised the maximum and of all %d", raised, all)
	var rows [][]string
	err := onerow.Query(ctx, d.DB, sqlRuns, nil, func(r *sql.Rows) error {
		var n [6]int64
		if err := r.Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); err != nil {
			return err
		}
		row := []string{strconv.FormatInt(n[0], 10), strconv.FormatInt(n[1], 10)}
		for _, meters := range n[2:] {
			row = append(row, demo.Number(meters))
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return err
	}
	page.Table([]string{">USER", ">RUN", ">REJECT", fmt.Sprintf(">ORDERED, THE %d", raised), ">HOLD", fmt.Sprintf(">ORDERED, ALL %d", all)}, rows)

	waiting, err := hold.guard.Waiting(ctx, d.DB, 1)
	if err != nil {
		return err
	}
	rest := make([][]string, 0, 2)
	same := len(waiting) == 0
	for i := 0; i < len(consumers); i += 2 {
		got, err := left(ctx, d.DB, consumers[i])
		if err != nil {
			return err
		}
		want, err := left(ctx, d.DB, consumers[i+1])
		if err != nil {
			return err
		}
		equal := slices.Equal(got, want)
		same = same && equal
		rest = append(rest, []string{"mode " + consumers[i], demo.Number(int64(len(got))), demo.Number(int64(len(want))), demo.Yes(equal)})
	}
	page.Step("5. All rows: messages, totals of the runs, tendencies of the users")
	page.Table([]string{"CONSUMER", ">ROWS", ">OF THE ORDERED RUN", "EVERY ROW IS THE SAME"}, rest)
	if len(waiting) > 0 {
		page.Line("  mode hold still waits for message %d of %s", waiting[0].Last+1, waiting[0].Stream)
	}
	if !same {
		return errDiffer
	}
	return nil
}
