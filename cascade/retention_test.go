package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/retain"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

const ninety = 90 * 24 * time.Hour

// attic are tables whose rows get old: visits have steps below them, the others are leaves.
func attic() schema.Plan {
	keep := func(column, zone string) *schema.Retention {
		return &schema.Retention{Column: column, Keep: schema.Age(ninety), Zone: zone}
	}
	return schema.Plan{Tables: []schema.Table{
		{Name: "visit", Key: []string{"id"}, Retention: keep("seen_at", "")},
		{Name: "step", Key: []string{"id"}, Parents: []schema.Edge{{Table: "visit", Columns: []string{"visit"}}}},
		{Name: "ping", Key: []string{"host", "id"}, Retention: keep("at", "")},
		{Name: "meal", Key: []string{"id"}, Retention: keep("day", "Asia/Tokyo")},
		{Name: "call", Key: []string{"id"}, Retention: keep("at", "Europe/Berlin")},
	}}
}

func openAttic(t testing.TB, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, opts...)
	plantAttic(t, db)
	return db
}

func plantAttic(t testing.TB, db *sql.DB) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range atticTables {
		dbtest.Exec(t, db, stmt)
	}
}

var atticTables = []string{
	"CREATE TABLE visit (id BIGINT PRIMARY KEY, seen_at DATETIME(6) NULL, tag VARCHAR(9) NULL, KEY seen (seen_at, tag)) ENGINE=InnoDB",
	"CREATE TABLE step (id BIGINT PRIMARY KEY AUTO_INCREMENT, visit BIGINT NOT NULL, KEY visit (visit)) ENGINE=InnoDB",
	"CREATE TABLE ping (host VARCHAR(9), id BIGINT UNSIGNED, at TIMESTAMP(6) NULL, PRIMARY KEY (host, id), KEY at (at)) ENGINE=InnoDB",
	"CREATE TABLE meal (id BINARY(4) PRIMARY KEY, day DATE NULL, KEY day (day)) ENGINE=InnoDB",
	"CREATE TABLE `call` (id BIGINT PRIMARY KEY, at DATETIME NULL, KEY at (at)) ENGINE=InnoDB",
}

// visit is a row with two steps, that was seen so long ago.
func visit(t testing.TB, db *sql.DB, id int64, ago time.Duration) {
	t.Helper()
	dbtest.Exec(t, db, "INSERT INTO visit (id, seen_at) VALUES (?, UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND)", id, ago.Microseconds())
	dbtest.Exec(t, db, "INSERT INTO step (visit) VALUES (?), (?)", id, id)
}

// retainer reads the catalog anew for each step.
func retainer(db *sql.DB, plan schema.Plan) *retain.Retainer {
	return retain.New(db, plan, func(ctx context.Context) (*graph.Graph, error) { return graph.Read(ctx, db, plan) })
}

// stepOf takes a step, and has the next one not wait for its turn.
func stepOf(t testing.TB, db *sql.DB, r *retain.Retainer, resource string) retain.Done {
	t.Helper()
	done, err := r.Step(t.Context(), resource, false)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6)")
	return done
}

func atticWorker(t testing.TB, db *sql.DB, plan schema.Plan) *Worker {
	t.Helper()
	w, err := NewWorker(db, plan, Config{Name: "w", Target: -1})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// left are the ids of a table's rows.
func left(t testing.TB, db *sql.DB, table string) string {
	t.Helper()
	var ids sql.NullString
	column := map[string]string{"ping": "CONCAT(host, id)", "meal": "CONVERT(id USING utf8mb4)"}[table]
	if column == "" {
		column = "id"
	}
	if err := db.QueryRowContext(t.Context(), "SELECT GROUP_CONCAT("+column+" ORDER BY "+column+") FROM "+ident.Quote(table)).Scan(&ids); err != nil {
		t.Fatal(err)
	}
	return ids.String
}

// TestRetention: what is due goes with what is below it, and nothing else, whatever the session's time zone;
// the audit says so.
func TestRetention(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, plan := openAttic(t, zone, dbtest.Param("sql_mode", "''")), attic()
		const minute, hour = time.Minute, time.Hour
		visit(t, db, 1, ninety+minute)
		visit(t, db, 2, ninety-minute)
		dbtest.Exec(t, db, "INSERT INTO visit (id, seen_at) VALUES (3, NULL), (4, '0000-00-00'), (5, '1999-12-31 00:00:00'), (6, '2999-12-31 00:00:00')")
		var now int64
		if err := db.QueryRowContext(t.Context(), "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").Scan(&now); err != nil {
			t.Fatal(err)
		}
		at := time.UnixMicro(now).UTC()
		ping := func(host string, ago time.Duration) {
			dbtest.Exec(t, db, "INSERT INTO ping VALUES (?, 18446744073709551615, FROM_UNIXTIME(?))", host, fmt.Sprintf("%d.000001", at.Add(-ago).Unix()))
		}
		ping("a", ninety+minute)
		ping("b", ninety-minute)
		dbtest.Exec(t, db, "INSERT INTO ping VALUES ('c', 1, NULL), ('d', 1, '0000-00-00 00:00:00')")
		tokyo := at.Add(9*hour - ninety)
		for id, day := range map[string]time.Time{"past": tokyo.AddDate(0, 0, -1), "this": tokyo, "next": tokyo.AddDate(0, 0, 1)} {
			dbtest.Exec(t, db, "INSERT INTO meal VALUES (?, ?)", id, day.Format(time.DateOnly))
		}
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		for id, ago := range []time.Duration{ninety + 2*hour, ninety - minute} { // two hours are more than any hour that comes twice
			dbtest.Exec(t, db, "INSERT INTO `call` VALUES (?, ?)", id+1, at.Add(-ago).In(berlin).Format(time.DateTime))
		}
		r := retainer(db, plan)
		for name, want := range map[string]int{"visit": 2, "ping": 1, "meal": 2, "call": 1} {
			due, err := r.Due(t.Context(), name, 10)
			if err != nil || due.Due != int64(want) || !due.Open || due.Oldest == "" {
				t.Errorf("%s: %+v, %v", name, due, err)
			}
			would := 0
			if passed, err := r.DryRun(t.Context(), name, func(string, string) error { would++; return nil }); err != nil || would != want || passed != 0 {
				t.Errorf("%s: a dry run says %d, %d, %v", name, would, passed, err)
			}
			if done := stepOf(t, db, r, name); done.Queued != want || !done.End {
				t.Errorf("%s: %+v, want %d", name, done, want)
			}
			if done := stepOf(t, db, r, name); done.Queued != 0 || done.Passed != want || !done.End {
				t.Errorf("%s again: %+v", name, done)
			}
		}
		drain(t, atticWorker(t, db, plan))
		for table, want := range map[string]string{"visit": "2,3,4,6", "step": "3,4", "ping": "b18446744073709551615,c1,d1", "meal": "next", "call": "2"} {
			if got := left(t, db, table); got != want {
				t.Errorf("%s: left are %s, want %s", table, got, want)
			}
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_deletion AS d JOIN onerow_job_archive AS a ON a.deletion_id = d.id WHERE d.deleted_from = 'due' AND a.state = 'done'"); n != 6 {
			t.Errorf("%d deletions are in the audit", n)
		}
	})
}

// TestRetentionUndated: a date without a month or without a day makes no row due, whatever the sql_mode; the
// report counts it, and a job that is there already says why it deletes nothing.
func TestRetentionUndated(t *testing.T) {
	for _, mode := range []string{"''", "'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO'"} {
		t.Run(mode, func(t *testing.T) {
			dsn, ctx := dbtest.DSN(t, dbtest.Param("sql_mode", url.QueryEscape(mode))), t.Context()
			db, plan := dbtest.OpenDSN(t, dsn), attic()
			plantAttic(t, db)
			lax, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, stmt := range []string{
				"SET SESSION sql_mode = ''",
				"INSERT INTO visit (id, seen_at) VALUES (1, '2020-00-10 01:02:03'), (2, '2020-10-00'), (3, '2020-00-00 00:00:00.5'), (4, '2020-02-29'), (5, '2020-01-01'), (6, '2020-01-01 00:00:00.000001')",
				"INSERT INTO meal VALUES ('a', '2020-00-10'), ('b', '2020-10-00'), ('c', '2020-10-10'), ('d', '2019-00-00')",
			} {
				if _, err := lax.ExecContext(ctx, stmt); err != nil {
					t.Fatal(err)
				}
			}
			if err := lax.Close(); err != nil {
				t.Fatal(err)
			}
			r := retainer(db, plan)
			for name, want := range map[string][2]int64{"visit": {3, 3}, "meal": {1, 3}} {
				due, err := r.Due(ctx, name, 10)
				if err != nil || due.Due != want[0] || due.Undated != want[1] || !strings.HasPrefix(due.Oldest, "2020-") || strings.Contains(due.Oldest, "-00") {
					t.Errorf("%s: %+v, %v", name, due, err)
				}
				if done := stepOf(t, db, r, name); done.Queued != int(want[0]) {
					t.Errorf("%s: %+v, want %d", name, done, want[0])
				}
			}
			// An older program has queued this one.
			if _, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "visit", ResourceID: "1", From: queue.FromDue}}); err != nil {
				t.Fatal(err)
			}
			drain(t, atticWorker(t, db, plan))
			if visits, meals := left(t, db, "visit"), left(t, db, "meal"); visits != "1,2,3" || !strings.HasPrefix(meals, "a") || strings.Contains(meals, "c") {
				t.Errorf("left are %s and %s", visits, meals)
			}
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'cancelled' AND last_error LIKE '%2020-00-10 01:02:03%has no month or no day%'"); n != 1 {
				t.Errorf("%d jobs say why they deleted nothing", n)
			}
		})
	}
}

// TestRetentionLooksAgain: a row that was written between the look and the job stays, with all that is below
// it, and is queued again once it is due again.
func TestRetentionLooksAgain(t *testing.T) {
	db, plan := openAttic(t), attic()
	for id := range int64(3) {
		visit(t, db, id+1, ninety+time.Minute)
	}
	r := retainer(db, plan)
	if done := stepOf(t, db, r, "visit"); done.Queued != 3 {
		t.Fatalf("%+v", done)
	}
	dbtest.Exec(t, db, "UPDATE visit SET seen_at = UTC_TIMESTAMP(6) WHERE id = 1")
	dbtest.Exec(t, db, "UPDATE visit SET seen_at = NULL WHERE id = 2")
	drain(t, atticWorker(t, db, plan))
	if got := left(t, db, "visit") + " " + left(t, db, "step"); got != "1,2 1,2,3,4" {
		t.Errorf("left are %s", got)
	}
	job := get(t, db, 1)
	if job.State != queue.Cancelled || !strings.Contains(job.LastError, "not due any more") || job.DeletedRows != 0 {
		t.Errorf("%+v", job)
	}
	dbtest.Exec(t, db, "UPDATE visit SET seen_at = UTC_TIMESTAMP(6) - INTERVAL 91 DAY WHERE id = 1")
	if done := stepOf(t, db, r, "visit"); done.Queued != 1 {
		t.Errorf("when it is due again: %+v", done)
	}
	drain(t, atticWorker(t, db, plan))
	if got := left(t, db, "visit"); got != "2" {
		t.Errorf("left are %s", got)
	}
}

// TestRetentionWaitsForWriters: whoever is about to write the row when the job begins has written it before.
func TestRetentionWaitsForWriters(t *testing.T) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, plan := openAttic(t, opts...), attic()
			visit(t, db, 1, ninety+time.Minute)
			stepOf(t, db, retainer(db, plan), "visit")
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "UPDATE visit SET seen_at = UTC_TIMESTAMP(6) WHERE id = 1"); err != nil {
				t.Fatal(err)
			}
			drained := make(chan error, 1)
			w := atticWorker(t, db, plan)
			go func() { drained <- w.Drain(t.Context()) }()
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				return len(dbtest.Executing(t, db, "FOR UPDATE", "visit")) > 0, "the job does not wait for the row"
			})
			if err := errors.Join(tx.Commit(), <-drained); err != nil {
				t.Fatal(err)
			}
			if got := left(t, db, "visit") + " " + left(t, db, "step"); got != "1 1,2" {
				t.Errorf("left are %s", got)
			}
		})
	}
}

// TestRetentionOfThePlan: jobs that were queued under a policy end without a deletion where the plan has none
// any more, or a longer one; a person's deletion that came meanwhile counts.
func TestRetentionOfThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		change func(plan *schema.Plan, db *sql.DB)
		left   string
	}{
		"nothing": {func(*schema.Plan, *sql.DB) {}, ""},
		"gone":    {func(p *schema.Plan, _ *sql.DB) { p.Tables[0].Retention = nil }, "1"},
		"longer":  {func(p *schema.Plan, _ *sql.DB) { p.Tables[0].Retention.Keep *= 2 }, "1"},
		"gone, and asked for": {func(p *schema.Plan, db *sql.DB) {
			p.Tables[0].Retention.Keep *= 2
			d := queue.Deletion{Resource: "visit", ResourceID: "1", From: queue.FromOperator}
			id, err := queue.Log(t.Context(), db, d)
			d.ID = id
			if job, jerr := queue.Enqueue(t.Context(), db, d); err != nil || jerr != nil || job.DeletionID == id {
				t.Fatalf("%+v, %v, %v", job, err, jerr)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, plan := openAttic(t), attic()
			visit(t, db, 1, ninety+time.Minute)
			stepOf(t, db, retainer(db, plan), "visit")
			plan = attic()
			c.change(&plan, db)
			drain(t, atticWorker(t, db, plan))
			if got := left(t, db, "visit"); got != c.left || (left(t, db, "step") == "") != (c.left == "") {
				t.Errorf("left are %q, want %q", got, c.left)
			}
		})
	}
}

// TestRetentionPassesBy: rows of which a job is dead, or has left something on purpose, wait for a person,
// and those whose deletion a person took back are new, for as long as the policy keeps rows.
func TestRetentionPassesBy(t *testing.T) {
	db, plan := openAttic(t), attic()
	plan.Trash = schema.Age(time.Hour)
	plantTrash(t, db, plan)
	for id := range int64(6) {
		visit(t, db, id+1, ninety+time.Minute)
	}
	ended := func(id int, state, ago, why string) {
		dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, last_error, created_at, finished_at)
VALUES (?, 'visit', ?, 1, ?, UTC_TIMESTAMP(6), 1, 1, 0, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL `+ago+`)`, id, []byte(fmt.Sprint(id)), state, why)
	}
	ended(1, "dead", "1 HOUR", "why")
	ended(2, "leftovers", "1 HOUR", "")
	dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (2, 'step', '3', 'why', 'skipped', UTC_TIMESTAMP(6))")
	ended(3, "cancelled", "89 DAY", "")
	ended(4, "cancelled", "91 DAY", "")
	ended(5, "cancelled", "1 HOUR", "retention: the row is not due any more")
	r, w := retainer(db, plan), atticWorker(t, db, plan)
	if done := stepOf(t, db, r, "visit"); done.Queued != 3 || done.Passed != 3 {
		t.Errorf("%+v", done)
	}
	drain(t, w)
	if got := left(t, db, "visit"); got != "1,2,3" {
		t.Fatalf("left are %s", got)
	}
	// What comes back from the trash stays, when its job is the one that looks, too.
	job := count(t, db, "SELECT id FROM onerow_job_archive WHERE resource_id = '6'")
	if _, err := recover.Rows(t.Context(), db, plan, job, recover.Options{}); err != nil {
		t.Fatal(err)
	}
	if done := stepOf(t, db, r, "visit"); done.Queued != 0 { // the job is held
		t.Errorf("while rows come back: %+v", done)
	}
	if got := get(t, db, job); got.State != queue.Held {
		t.Errorf("%+v", got)
	}
	if err := queue.Cancel(t.Context(), db, "visit", "6", get(t, db, job).DeletionID); err != nil {
		t.Fatal(err)
	}
	if done := stepOf(t, db, r, "visit"); done.Queued != 0 || done.Passed != 4 {
		t.Errorf("after it came back: %+v", done)
	}
	// A look that was too early does not matter: the job looks itself.
	if _, _, err := queue.EnqueueMany(t.Context(), db, []queue.Deletion{{Resource: "visit", ResourceID: "6", From: queue.FromDue}}); err != nil {
		t.Fatal(err)
	}
	drain(t, w)
	if got := left(t, db, "visit"); got != "1,2,3,6" {
		t.Errorf("left are %s", got)
	}
	dbtest.Exec(t, db, "UPDATE onerow_job_archive SET finished_at = finished_at - INTERVAL 91 DAY WHERE resource_id = '6'")
	if done := stepOf(t, db, r, "visit"); done.Queued != 1 {
		t.Errorf("when it is old again: %+v", done)
	}
	drain(t, w)
	if got := left(t, db, "visit"); got != "1,2,3" {
		t.Errorf("left are %s", got)
	}
}

// TestRetentionPages: each row is queued once, however many have the same time, and one page after the other
// is read where nothing is to be queued.
func TestRetentionPages(t *testing.T) {
	db, plan := openAttic(t), attic()
	plan.Tables[0].Retention.Rate, plan.Tables[2].Retention.Rate = 700, 700
	insert := func(from, to int) {
		t.Helper()
		for _, table := range []string{"visit (id, seen_at, tag) VALUES ", "ping (id, at, host) VALUES "} {
			var rows []string
			for id := from; id < to; id++ {
				tag := []string{"NULL", "'a'", "'b'"}[id%3]
				if strings.HasPrefix(table, "ping") {
					tag = []string{"'c'", "'a'", "'b'"}[id%3]
				}
				rows = append(rows, fmt.Sprintf("(%d, '2020-01-0%d 00:00:00.5', %s)", id, 1+id%2, tag))
			}
			dbtest.Exec(t, db, "INSERT INTO "+table+strings.Join(rows, ", "))
		}
	}
	insert(1, 1601)
	r := retainer(db, plan)
	for _, name := range []string{"visit", "ping"} {
		var queued []int
		for end := false; !end; {
			done := stepOf(t, db, r, name)
			queued, end = append(queued, done.Queued), done.End
			dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = due_at + INTERVAL 1 DAY WHERE due_at < UTC_TIMESTAMP(6) + INTERVAL 1 HOUR") // nobody works them
		}
		if !slices.Equal(queued, []int{700, 700, 200}) {
			t.Errorf("%s: queued %v", name, queued)
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != 3200 {
		t.Errorf("%d jobs", n)
	}
	insert(1601, 1701)
	queued := 0
	for end := false; !end; {
		done := stepOf(t, db, r, "visit")
		queued, end = queued+done.Queued, done.End
	}
	if queued != 100 {
		t.Errorf("behind what is queued %d were found", queued)
	}
}

// TestRetentionTurns: all who queue keep the rate together, none queues while enough is due or outside of the
// windows, and what is unknown or does not fit is said.
func TestRetentionTurns(t *testing.T) {
	db, plan := openAttic(t), attic()
	policy := plan.Tables[0].Retention
	policy.Rate = 0.5
	for id := range int64(5) {
		visit(t, db, id+1, ninety+time.Minute)
	}
	step := func(r *retain.Retainer, now bool) retain.Done {
		t.Helper()
		done, err := r.Step(t.Context(), "visit", now)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	a, b := retainer(db, plan), retainer(db, plan)
	if first, second := step(a, false), step(b, false); first.Queued != 1 || second.Queued != 0 || !second.Early {
		t.Errorf("%+v, then %+v", first, second)
	}
	if n := count(t, db, "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_at) BETWEEN 1000000 AND 2000000 FROM onerow_retention"); n != 1 {
		t.Error("the next turn is not in two seconds")
	}
	dbtest.Exec(t, db, "UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6)")
	if done := step(b, false); done.Queued != 1 {
		t.Errorf("%+v", done)
	}
	dbtest.Exec(t, db, "UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6)")
	var rows []string
	for id := range 100 - 2 {
		rows = append(rows, fmt.Sprintf("('visit', 'x%d', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id))
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES "+strings.Join(rows, ", "))
	if done := step(a, false); done.Queued != 0 || !done.Full {
		t.Errorf("%+v", done)
	}
	dbtest.Exec(t, db, "DELETE FROM onerow_job WHERE resource_id LIKE 'x%'")
	var now int64
	if err := db.QueryRowContext(t.Context(), "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").Scan(&now); err != nil {
		t.Fatal(err)
	}
	tomorrow := time.UnixMicro(now).UTC().AddDate(0, 0, 2).Weekday().String()[:3]
	policy.Windows = []string{tomorrow + " 02:00-03:00"}
	closed := retainer(db, plan)
	if done := step(closed, false); done.Queued != 0 || !done.Closed || done.Next.Hour() != 2 {
		t.Errorf("%+v", done)
	}
	if done := step(closed, true); done.Queued != 1 {
		t.Errorf("now: %+v", done)
	}
	if _, err := a.Step(t.Context(), "step", false); err == nil || !strings.Contains(err.Error(), "no retention for it") {
		t.Error(err)
	}
	dbtest.Exec(t, db, "ALTER TABLE visit DROP KEY seen")
	if _, err := retainer(db, plan).Step(t.Context(), "visit", true); err == nil || !strings.Contains(err.Error(), `no index of "visit" begins with "seen_at"`) {
		t.Error(err)
	}
	visit(t, db, 9, 0)
	if _, _, err := queue.EnqueueMany(t.Context(), db, []queue.Deletion{{Resource: "visit", ResourceID: "9", From: queue.FromOperator}}); err != nil {
		t.Fatal(err)
	}
	if _, err := atticWorker(t, db, plan).RunOnce(context.WithoutCancel(t.Context())); err != nil || strings.Contains(left(t, db, "visit"), "9") {
		t.Errorf("another deletion waits: %v", err)
	}
}

// TestRetentionOfResources: rows of the archive go, too, but none that a deletion hides; where archived_at is
// the column, only these.
func TestRetentionOfResources(t *testing.T) {
	for column, want := range map[string][2]string{"created_at": {"2", "12,13"}, "archived_at": {"1,2", "12,13"}} {
		t.Run(column, func(t *testing.T) {
			db := openForest(t)
			plan := withRetention(column)
			for _, table := range []string{"project", "project_archive"} {
				dbtest.Exec(t, db, "ALTER TABLE "+table+" ADD KEY (created_at)")
			}
			dbtest.Exec(t, db, "ALTER TABLE project_archive ADD KEY (archived_at)")
			for _, id := range []int64{1, 2} {
				project(t, db, id)
			}
			for id, more := range map[int64]map[string]any{11: {}, 12: {"deletion_id": 5, "deleted_from": "active"}, 13: {}} {
				row := map[string]any{"id": id, "user_id": 7}
				for k, v := range more {
					row[k] = v
				}
				insert(t, db, "project_archive", row)
			}
			grow(t, db, 11, 1, 1, 1, 1)
			const old = " = UTC_TIMESTAMP(6) - INTERVAL 91 DAY"
			dbtest.Exec(t, db, "UPDATE project SET created_at"+old+" WHERE id = 1")
			dbtest.Exec(t, db, "UPDATE project_archive SET created_at"+old+", archived_at"+old+" WHERE id IN (11, 12)")
			r := retainer(db, plan)
			for end := false; !end; {
				end = stepOf(t, db, r, "project").End
			}
			w, err := NewWorker(db, plan, Config{Assets: &shelf{}})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, w)
			if got := [2]string{left(t, db, "project"), left(t, db, "project_archive")}; got != want || len(rowsOf(t, db, 11)) > 0 {
				t.Errorf("left are %q and %v, want %q", got, rowsOf(t, db, 11), want)
			}
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark"); n == 0 {
				t.Error("no owner is marked")
			}
		})
	}
}

// withRetention is the forest whose projects get old.
func withRetention(column string) schema.Plan {
	plan := forest
	plan.Resources = slices.Clone(plan.Resources)
	plan.Resources[0].Retention = &schema.Retention{Column: column, Keep: schema.Age(ninety)}
	return plan
}

// TestRetentionOfWhatMoved: a row that was archived since it was found goes from there if it is due still,
// and one that its owner has deleted since goes as that says.
func TestRetentionOfWhatMoved(t *testing.T) {
	for name, c := range map[string]struct {
		columns string // that are written in the archive
		left    string
	}{
		"archived":             {"", ""},
		"archived, written":    {"a.created_at = UTC_TIMESTAMP(6)", "1"},
		"deleted by its owner": {"a.created_at = UTC_TIMESTAMP(6), a.deletion_id = (SELECT deletion_id FROM onerow_job), a.deleted_from = 'active'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, plan := openForest(t), withRetention("created_at")
			for _, table := range []string{"project", "project_archive"} {
				dbtest.Exec(t, db, "ALTER TABLE "+table+" ADD KEY (created_at)")
			}
			project(t, db, 1)
			grow(t, db, 1, 1, 1, 1, 1)
			dbtest.Exec(t, db, "UPDATE project SET created_at = '2020-01-01'")
			if done := stepOf(t, db, retainer(db, plan), "project"); done.Queued != 1 {
				t.Fatalf("%+v", done)
			}
			insert(t, db, "project_archive", map[string]any{"id": 1, "user_id": 7})
			dbtest.Exec(t, db, "UPDATE project_archive SET created_at = '2020-01-01'")
			dbtest.Exec(t, db, "DELETE FROM project")
			if c.columns != "" {
				dbtest.Exec(t, db, "UPDATE project_archive AS a SET "+c.columns)
			}
			w, err := NewWorker(db, plan, Config{Assets: &shelf{}})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, w)
			if got := left(t, db, "project_archive"); got != c.left || (len(rowsOf(t, db, 1)) == 0) != (c.left == "") {
				t.Errorf("left are %q and %v, want %q", got, rowsOf(t, db, 1), c.left)
			}
		})
	}
}
