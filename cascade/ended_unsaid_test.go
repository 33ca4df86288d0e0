package cascade

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// sniper opens connections whose deletions from a table an operator kills, at about the time that the server
// begins with them.
type sniper struct {
	driver.Connector
	operator *sql.DB
	table    string
	shots    int
}

// target is what a connection of the driver's can do.
type target interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

type targeted struct {
	target
	by *sniper
	id string
}

func (s *sniper) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t := &targeted{target: conn.(target), by: s}
	rows, err := t.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return nil, err
	}
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return nil, err
	}
	t.id = fmt.Sprint(row[0])
	if text, ok := row[0].([]byte); ok {
		t.id = string(text)
	}
	return t, rows.Close()
}

func (t *targeted) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !strings.HasPrefix(query, "DELETE") || !strings.Contains(query, t.by.table) {
		return t.target.ExecContext(ctx, query, args)
	}
	t.by.shots++
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for began, wait := time.Now(), rand.N(300*time.Microsecond); time.Since(began) < wait; { // no timer is that exact
		}
		_, _ = t.by.operator.ExecContext(ctx, fmt.Sprintf("KILL QUERY %s", t.id)) // the session may be gone
	}()
	defer func() { <-killed }()
	return t.target.ExecContext(ctx, query, args)
}

// TestEndedUnsaid: MariaDB answers a DELETE that KILL QUERY has met before its first row with OK and no row.
// Nothing is left below a root that is gone, however often that happens.
func TestEndedUnsaid(t *testing.T) {
	const shots = 400
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	plant(t, db)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &sniper{Connector: connector, operator: db, table: "`note`"}
	pool := sql.OpenDB(s)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	w := quiet(t, worker(t, pool, Config{MaxFailures: 2}))
	jobs := int64(0)
	for ; s.shots < shots; jobs++ {
		id := jobs + 1
		project(t, db, id)
		insert(t, db, "note", map[string]any{"project_id": id})
		job := condemn(t, db, id, 0)
		for try := 0; get(t, db, job.ID).State != queue.Done && try < 100; try++ {
			makeDue(t, db, job.ID)
			_, _ = w.RunOnce(t.Context()) // many are killed
		}
		if n := count(t, db, "SELECT COUNT(*) FROM note WHERE project_id = ?", id); n > 0 || t.Failed() {
			t.Fatalf("after %d shots: %d notes below project %d; %+v", s.shots, n, id, get(t, db, job.ID))
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done' AND failures = 0"); n != jobs {
		t.Errorf("%d of %d jobs are done without a failure; another one: %s", n, jobs,
			dbtest.Scan[string](t, db, "SELECT COALESCE((SELECT CONCAT_WS(' ', id, state, failures, last_error) FROM onerow_job_archive WHERE state <> 'done' OR failures > 0 LIMIT 1), 'not ended')"))
	}
}
