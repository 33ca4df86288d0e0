package acknowledged_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// special are the cases whose texts are of another kind.
var special = []struct {
	acase
	test func(w *world, end string)
}{
	{acase{name: "system variables", takes: []string{"pool.Open dsn"}}, (*world).variable},
	{acase{name: "savepoint", takes: []string{"onerow.Tx.Savepoint name"}}, (*world).savepoint},
	{acase{name: "limit", takes: []string{"quota.LimitQuery query"}}, (*world).limit},
	{acase{name: "throttle", takes: []string{"cascade.Config ThrottleQueries"}}, (*world).throttle},
	{acase{name: "migration", takes: []string{"migrations.Apply files", "migrations.New files", "migrations.FS ="}}, (*world).migration},
	{acase{name: "column type", takes: []string{
		"schema.Column Type", "schema.Resource IDType", "schema.Resource OwnerType", "schema.Parent Type",
	}}, (*world).columnType},
}

func allCases() []acase {
	all := textCases()
	for _, c := range special {
		all = append(all, c.acase)
	}
	return all
}

// TestSpecialTexts is TestTexts for what is no whole statement, or none of the caller's transaction.
func TestSpecialTexts(t *testing.T) {
	worlds(t, func(w *world) {
		if w.multi {
			return // nothing here is sent otherwise than on the pool without
		}
		w.quotas()
		for _, c := range special {
			for _, end := range endings {
				w.tag++
				c.test(w, end)
				w.clean(c.name, end)
			}
		}
	})
}

// clean fails if the pool's session has a transaction open.
func (w *world) clean(name, end string) {
	w.t.Helper()
	dbtest.Exec(w.t, w.pool, "UPDATE tally SET n = n + 1")
	w.tally++
	if n := dbtest.Scan[int64](w.t, w.plain, "SELECT n FROM tally"); n != w.tally {
		w.t.Errorf("%s %q: of %d updates of its pool another session sees %d", name, end, w.tally, n)
		w.tally = n
	}
}

func (w *world) count(query string, args ...any) int64 {
	w.t.Helper()
	return dbtest.Scan[int64](w.t, w.plain, query, args...)
}

// variable: a session has what Open promises, whatever a system variable of the data source name ends with, or
// there is none.
func (w *world) variable(end string) {
	w.t.Helper()
	if !strings.HasPrefix(w.name, "Open") {
		return
	}
	db, err := pool.Open(w.dsn + "&sort_buffer_size=" + url.QueryEscape("400000"+end))
	if err != nil {
		return
	}
	defer db.Close() //nolint:errcheck // in a moment
	db.SetMaxOpenConns(1)
	write := func(ctx context.Context, tx *onerow.Tx) error {
		return packet.ExecLast(ctx, tx, onerow.Stmt{Query: writes, Args: []any{w.tag, 7}})
	}
	if err := onerow.InTx(w.t.Context(), db, write); err != nil {
		if end == "" || errors.Is(err, onerow.ErrOutcomeUnknown) || w.count("SELECT COUNT(*) FROM note WHERE tag = ?", w.tag) != 0 {
			w.t.Errorf("variable %q: %v", end, err)
		}
		return
	}
	dbtest.Exec(w.t, db, writes, w.tag, 8)
	if n := w.count("SELECT COUNT(*) FROM note WHERE tag = ?", w.tag); n != 2 {
		w.t.Errorf("variable %q: of two rows that were acknowledged %d are there", end, n)
	}
	// Those of the other parameters, which dbtest gives, were sent behind it.
	isolation := "tx_isolation"
	if dbtest.Server(w.t).Engine() != devdb.MariaDB {
		isolation = "transaction_isolation"
	}
	got := dbtest.Scan[string](w.t, db, "SELECT CONCAT_WS(' ', @@autocommit = 1, @@sort_buffer_size, @@time_zone, @@"+isolation+")")
	if got != "1 400000 +00:00 READ-COMMITTED" {
		w.t.Errorf("variable %q: the session has %s", end, got)
	}
}

// savepoint: what its function wrote is taken back, or nothing is committed.
func (w *world) savepoint(end string) {
	w.t.Helper()
	for _, fails := range []error{nil, errors.New("of the function")} {
		w.tag++
		before := (&call{tag: w.tag}).mark("before")
		sqlTx, err := w.pool.BeginTx(w.t.Context(), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := sqlTx.ExecContext(w.t.Context(), before.Query, before.Args...); err != nil {
			w.t.Fatal(err)
		}
		err = onerow.InTx(w.t.Context(), sqlTx, func(ctx context.Context, tx *onerow.Tx) error {
			return tx.Savepoint(ctx, "s"+end, func() error {
				if _, err := tx.ExecContext(ctx, writes, w.tag, 7); err != nil {
					return err
				}
				return fails
			})
		})
		cerr := sqlTx.Commit()
		notes, marks := w.count("SELECT COUNT(*) FROM note WHERE tag = ?", w.tag), w.count("SELECT COUNT(*) FROM mark WHERE tag = ?", w.tag)
		want := [2]int64{0, 0}
		if cerr == nil {
			want = [2]int64{0, 1}
		}
		if cerr == nil && err == nil {
			want[0] = 1
		}
		undone := errors.Is(err, onerow.ErrNotUndone) // the owner was told to roll back
		if got := [2]int64{notes, marks}; got != want && !undone || fails != nil && err == nil {
			w.t.Errorf("savepoint %q, its function says %v: %v, %v, and %d and %d rows are there, not %v", end, fails, err, cerr, notes, marks, want)
		}
	}
}

var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Owner: "user_id", Quota: schema.Quota{Flag: "is_over_quota"},
}}}

// quotas makes the tables of limit: two projects, of which one may be.
func (w *world) quotas() {
	w.t.Helper()
	for _, ddl := range append(plan.DDL(), "CREATE TABLE tariff (user_id BIGINT PRIMARY KEY, projects INT NOT NULL) ENGINE=InnoDB", "INSERT INTO tariff VALUES (1, 1)") {
		dbtest.Exec(w.t, w.plain, ddl)
	}
	dbtest.Exec(w.t, w.plain, "INSERT INTO project (user_id, created_at, updated_at) VALUES (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
}

// limit: a recalculation whose limit is read has set what it says, and another has set nothing.
func (w *world) limit(end string) {
	w.t.Helper()
	for query, right := range map[string]bool{"SELECT projects FROM tariff WHERE user_id = ?": true, "SELECT projects FROM tariff WHERE user_id = ? AND projects = ?": false} {
		for _, joined := range []bool{false, true} {
			dbtest.Exec(w.t, w.plain, "UPDATE project SET is_over_quota = 0")
			_, server := read(w.t.Context(), w.plain, query+end, 1)
			w.tag++
			rule, err := quota.New(plan, "project", quota.LimitQuery(query+end))
			if err != nil {
				w.t.Fatal(err)
			}
			var company int64
			if joined {
				company = 1
				err = onerow.InTx(w.t.Context(), w.pool, func(ctx context.Context, tx *onerow.Tx) error {
					if _, err := tx.ExecContext(ctx, writes, w.tag, 7); err != nil {
						return err
					}
					_, err := rule.Recalculate(ctx, tx, 1)
					return err
				})
			} else {
				_, err = rule.Recalculate(w.t.Context(), w.pool, 1)
			}
			over := w.count("SELECT COUNT(*) FROM project WHERE is_over_quota = 1")
			notes := w.count("SELECT COUNT(*) FROM note WHERE tag = ?", w.tag)
			switch {
			case (err == nil) != (server == nil), err == nil && !right, errors.Is(err, onerow.ErrOutcomeUnknown):
				w.t.Errorf("limit %q: %v; the server by itself: %v", query+end, err, server)
			case err == nil && (over != 1 || notes != company), err != nil && (over != 0 || notes != 0):
				w.t.Errorf("limit %q: %v, and %d flags and %d rows are there", query+end, err, over, notes)
			}
		}
	}
}

// throttle: the reason is what the server says.
func (w *world) throttle(end string) {
	w.t.Helper()
	const query = "SELECT 'busy'"
	_, server := w.plain.ExecContext(w.t.Context(), query+end)
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	reason := ""
	worker, err := cascade.NewWorker(w.pool, schema.Plan{Tables: []schema.Table{{Name: "mark", Key: []string{"tag"}}}}, cascade.Config{ThrottleQueries: []string{query + end}, OnEvent: func(e cascade.Event) {
		if e.Throttled != nil && reason == "" {
			reason = *e.Throttled
			cancel()
		}
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	err = worker.Drain(ctx)
	if refused := strings.HasPrefix(reason, "query: the throttle cannot be asked: "); !errors.Is(err, context.Canceled) || refused != (server != nil) || !refused && reason != "query: busy" {
		w.t.Errorf("throttle %q: %q, %v; the server by itself: %v", query+end, reason, err, server)
	}
}

// migration: what is recorded as applied is there, and nothing else.
func (w *world) migration(end string) {
	w.t.Helper()
	text := fmt.Sprintf("-- +goose Up\nINSERT INTO mark SET tag = %d, name = 'one', a = 3;\nINSERT INTO note SET tag = %d, a = 7%s\n;\nINSERT INTO mark SET tag = %d, name = 'two', a = 3;\n", w.tag, w.tag, end, w.tag)
	table := fmt.Sprint("version_", w.tag)
	err := migrations.Apply(w.t.Context(), w.pool, fstest.MapFS{"00001_x.sql": {Data: []byte(text)}}, table)
	notes, marks := w.count("SELECT COUNT(*) FROM note WHERE tag = ?", w.tag), w.count("SELECT COUNT(*) FROM mark WHERE tag = ?", w.tag)
	var applied int64
	if w.count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", table) > 0 {
		applied = w.count("SELECT COUNT(*) FROM " + table + " WHERE version_id = 1")
	}
	want := [3]int64{1, 2, 1}
	if err != nil {
		want = [3]int64{}
	}
	if got := [3]int64{notes, marks, applied}; got != want {
		w.t.Errorf("migration %q: %v, and there are the row, its neighbours and the version %v, not %v", end, err, got, want)
	}
}

// columnType: a type that the plan's check lets through makes the table that the plan says.
func (w *world) columnType(end string) {
	w.t.Helper()
	if w.name != "Open" { // the statements are the caller's to run
		return
	}
	for i, change := range []func(p *schema.Plan){
		func(p *schema.Plan) {
			p.Resources[0].Columns = []schema.Column{{Name: "about", Type: "INT NOT NULL" + end}, {Name: "more", Type: "INT NOT NULL"}}
		},
		func(p *schema.Plan) { p.Resources[0].IDType = "BIGINT NOT NULL AUTO_INCREMENT" + end },
		func(p *schema.Plan) { p.Resources[0].OwnerType = "BIGINT NOT NULL" + end },
		func(p *schema.Plan) { p.Resources[1].Parent.Type = "BIGINT NOT NULL" + end },
	} {
		name := fmt.Sprintf("p%d_%d", w.tag, i)
		p := schema.Plan{Resources: []schema.Resource{
			{Name: name, Owner: "user_id", Label: schema.Label{Column: "name"}},
			{Name: name + "_child", Owner: "up_id", Label: schema.Label{Column: "name"}, Parent: schema.Parent{Resource: name, Column: "up_id"}},
		}}
		if change(&p); p.Check() != nil {
			continue
		}
		var err error
		for _, ddl := range p.DDL() {
			_, xerr := w.pool.ExecContext(w.t.Context(), ddl)
			err = errors.Join(err, xerr)
		}
		var refused *mysql.MySQLError
		if verr := live.Verify(w.t.Context(), w.plain, p); err == nil && verr != nil || err != nil && !errors.As(err, &refused) || end == "" && err != nil {
			w.t.Errorf("column type %d %q: %v, then %v", i, end, err, verr)
		}
	}
}
