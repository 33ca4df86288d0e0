package ownrows_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// kept is a table, what a row of it is, and how many days it has to stay; rows are spread evenly over 500
// days, the youngest of now.
type kept struct {
	table, row string
	days       int
}

const age = "UTC_TIMESTAMP(6) - INTERVAL @day DAY - INTERVAL i MICROSECOND"

var tables = []kept{
	{"onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)",
		"i, 'project', i, i, 'done', " + age + ", 1, 1, 0, " + age + ", " + age, 400},
	{"onerow_job_count (job_id, table_name, deleted_rows)", "i, 'comment', 1", 400},
	{"onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at)", "i, 'project', i, 'active', 0, " + age, 400},
	{"onerow_key_audit (tenant, operation, idem_key, token, action, seen_status, actor, reason, acted_at)", "'t', 'op', i, i, 'expire', 'complete', 'ann', 'why', " + age, 400},
	{"onerow_request (resource, owner, request_id, row_id, fingerprint, call_token, created_at)", "'project', '1', i, i, '', '', " + age, 30},
	{"onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, completed_at, expires_at, codec, result)",
		"'t', 'op', i, 'complete', i, '', 'w', " + age + ", " + age + ", " + age + ", " + age + " + INTERVAL 7 DAY, 'json/1', i", 7},
	{"onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at)", "CONCAT('f', i), 's', i, 'finished', " + age + ", " + age, 60},
	{"onerow_stream_message (consumer, stream, epoch, seq, applied, received_at)", "'c', i % 10, 1, i, 1, " + age, 60},
}

// rows is how many rows of all tables there are: ONEROW_YEAR_ROWS, in the long form 1000000.
func rows(t *testing.T) int {
	text := os.Getenv("ONEROW_YEAR_ROWS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 8000 {
		t.Fatalf("ONEROW_YEAR_ROWS=%s: want a number of rows, 8000 or more", text)
	}
	return n
}

// TestYear: 500 days of use shrink to what the promises need, beside a foreground whose calls and replays of
// each kind of age all get what they are promised.
func TestYear(t *testing.T) {
	dsn := dbtest.DSN(t)
	db, ctx := dbtest.OpenDSN(t, dsn), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	each := max(1, rows(t)/len(tables)/1000) * 1000
	for _, k := range tables {
		insert := "INSERT INTO " + k.table + " " + cost.Numbers(each) + "SELECT " + k.row + " FROM numbers"
		// The first are the oldest, so that ids grow with the time.
		insert = strings.ReplaceAll(insert, "@day", fmt.Sprintf("FLOOR((%d - i) * 500 / %d)", each, each))
		if _, err := db.ExecContext(ctx, insert); err != nil {
			t.Fatalf("%s: %v", insert, err)
		}
	}
	stop, front := make(chan struct{}), make(chan error, 1)
	answered := 0
	go func() { front <- foreground(ctx, db, each, stop, &answered) }()
	removed, begin := map[string]int64{}, time.Now()
	kinds, err := ownrows.Keep{KeepJobs: queue.DefaultKeep, KeepRequests: 720 * time.Hour, KeepFlows: 60 * 24 * time.Hour, KeepMessages: 60 * 24 * time.Hour}.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		for {
			n, err := kind.Purge(ctx, db, ownrows.Batch)
			if removed[kind.Name] += n; err != nil {
				t.Fatalf("%s: %v", kind.Name, err)
			}
			if n < ownrows.Batch {
				break
			}
		}
		if n, err := kind.Waiting(ctx, db, 1000); n != 0 || err != nil {
			t.Errorf("%s: %d wait behind the purge, %v", kind.Name, n, err)
		}
	}
	took := time.Since(begin)
	close(stop)
	if err := <-front; err != nil {
		t.Errorf("the foreground: %v", err)
	}
	t.Logf("%d rows in each of %d tables, %v removed in %v, beside %d calls of the foreground", each, len(tables), removed, took, answered)
	if answered == 0 {
		t.Error("the foreground did nothing")
	}
	for _, k := range tables {
		name, _, _ := strings.Cut(k.table, " ")
		var left, want int
		query := "SELECT COUNT(*) FROM " + name
		if name == "onerow_key" {
			query += " WHERE operation = 'op'"
		}
		if err := db.QueryRowContext(ctx, query).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if want = each * k.days / 500; left < want || left > want+each/500+1 {
			t.Errorf("%d of %s are left, want %d, those of %d days", left, name, want, k.days)
		}
	}
}

// foreground does work under new keys and replays it, and asks for keys that are 1 to 6 days old, which must
// still answer.
func foreground(ctx context.Context, db *sql.DB, each int, stop <-chan struct{}, answered *int) error {
	keys, err := idempotency.New(idempotency.Config{Keep: 7 * 24 * time.Hour})
	if err != nil {
		return err
	}
	ask := func(operation string, id int) error {
		_, out, err := idempotency.Begin[int](ctx, db, keys, idempotency.Key{Tenant: "t", Operation: operation, ID: strconv.Itoa(id)})
		if err == nil && (!out.Replayed || out.Row != id) {
			err = errors.New("not replayed")
		}
		return err
	}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		key := idempotency.Key{Tenant: "t", Operation: "new", ID: strconv.Itoa(i)}
		claim, _, err := idempotency.Begin[int](ctx, db, keys, key)
		if err == nil {
			err = keys.Complete(ctx, db, claim, i)
		}
		if err == nil {
			err = ask("new", i)
		}
		if err == nil { // of the last 6 days
			err = ask("op", each-i%(each*6/500))
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		*answered++
	}
}
