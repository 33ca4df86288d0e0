package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// bareConnector hides everything optional of the driver, as an old driver would.
type bareConnector struct{ driver.Connector }

func (b bareConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	return bareConn{c}, err
}

type bareConn struct{ driver.Conn }

// script uses the driver in every way that database/sql offers and returns what it saw.
func script(t *testing.T, db *sql.DB) []string {
	t.Helper()
	ctx := t.Context()
	var saw []string
	note := func(what string, err error) {
		t.Helper()
		saw = append(saw, fmt.Sprintf("%s: %v", what, err))
	}
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(ctx, query, args...)
		note(query, err)
	}
	note("ping", db.PingContext(ctx))
	exec("DELETE FROM purchase")
	exec(insertPurchase, "ann", "shoe")
	exec(insertPurchase, "ann", nil)             // refused by the server
	exec(insertPurchase, "ann")                  // too few arguments: driver.ErrSkip, then refused by database/sql
	exec("SELECT ?", uint64(1)<<63)              // needs the driver's own converter
	exec("SELECT ?", json.RawMessage(`{"a":1}`)) // the same
	exec("SELECT ?", time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC))
	exec("SELECT ?", struct{}{}) // no driver takes it

	stmt, err := db.PrepareContext(ctx, "SELECT buyer FROM purchase WHERE item = ?")
	note("prepare", err)
	for range 2 {
		var buyer string
		note("prepared query", stmt.QueryRowContext(ctx, "shoe").Scan(&buyer))
		saw = append(saw, buyer)
	}
	note("close", stmt.Close())

	tx, err := db.BeginTx(ctx, nil)
	note("begin", err)
	_, err = tx.ExecContext(ctx, insertPurchase, "eve", "sock")
	note("insert", err)
	note("commit", tx.Commit())
	tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	note("begin read only", err)
	note("rollback", tx.Rollback())

	rows, err := db.QueryContext(ctx, "SELECT id, buyer, created_at IS NULL FROM purchase ORDER BY id")
	note("query", err)
	types, err := rows.ColumnTypes()
	note("types", err)
	for _, c := range types {
		length, hasLength := c.Length()
		precision, scale, hasDecimals := c.DecimalSize()
		nullable, hasNullable := c.Nullable()
		saw = append(saw, fmt.Sprint(c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, precision, scale, hasDecimals, nullable, hasNullable))
	}
	for rows.Next() {
		var id, buyer, null sql.RawBytes
		note("scan", rows.Scan(&id, &buyer, &null))
		saw = append(saw, string(buyer))
	}
	note("more", rows.Err())
	saw = append(saw, fmt.Sprint(rows.NextResultSet()))
	note("close", rows.Close())

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = db.BeginTx(cancelled, nil)
	note("begin cancelled", err)
	return saw
}

// counters reads the session's own statistics: what the server got.
func counters(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SHOW SESSION STATUS WHERE Variable_name LIKE 'Com\_%' OR Variable_name = 'Questions'`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]int{}
	for rows.Next() {
		var name string
		var value int
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		values[strings.ToLower(name)] = value
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return values
}

// watch runs the script on one connection and returns what it saw and what the server counted meanwhile.
func watch(t *testing.T, connector driver.Connector) ([]string, map[string]int) {
	t.Helper()
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	before := counters(t, db)
	saw := script(t, db)
	after := counters(t, db)
	changed := map[string]int{}
	for name, value := range after {
		if value != before[name] {
			changed[name] = value - before[name]
		}
	}
	return saw, changed
}

func TestWrappingChangesNothing(t *testing.T) {
	for _, interpolate := range []string{"true", "false"} {
		t.Run("interpolateParams="+interpolate, func(t *testing.T) {
			dsn := shopDSN(t, dbtest.Param("interpolateParams", interpolate), dbtest.Param("multiStatements", "true"))
			inner, err := mysql.NewConnector(configOf(t, dsn))
			if err != nil {
				t.Fatal(err)
			}
			wantSaw, wantServer := watch(t, inner)
			wrapped := Wrap(inner)
			gotSaw, gotServer := watch(t, wrapped)
			if d := cmp.Diff(wantSaw, gotSaw); d != "" {
				t.Errorf("the caller sees another thing (-without +with):\n%s", d)
			}
			if d := cmp.Diff(wantServer, gotServer); d != "" {
				t.Errorf("the server gets other statements (-without +with):\n%s", d)
			}

			log := wrapped.statements()
			// Both looks at the counters are in the log, one is in their difference. A Prepare is no
			// question, nor is a ping.
			if want := gotServer["questions"] + 1; len(log) != want {
				t.Errorf("%d statements in the log, %d on the server:\n%s\n%v", len(log), want, log, gotServer)
			}
			prepared := 0
			for _, s := range log {
				if s.Prepared {
					prepared++
				}
			}
			if want := gotServer["com_stmt_execute"]; prepared != want {
				t.Errorf("%d prepared executions in the log, %d on the server", prepared, want)
			}
		})
	}
}

// TestBareDriver: a driver that lacks what go-sql-driver has is refused, and its connection closed.
func TestBareDriver(t *testing.T) {
	inner, err := mysql.NewConnector(configOf(t, shopDSN(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Wrap(bareConnector{inner}).Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "bareConn lacks") {
		t.Error(err)
	}
}

func TestCount(t *testing.T) {
	inner, err := mysql.NewConnector(configOf(t, shopDSN(t, dbtest.Param("interpolateParams", "false"))))
	if err != nil {
		t.Fatal(err)
	}
	connector := Wrap(inner)
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second is a replay: insert, 1062, rollback
		log, err := Count(connector, func() error { return buy(t.Context(), db) })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s", log)
	}
	log, err := Count(connector, func() error { return buy(t.Context(), db) })
	want := Log{
		{Session: 1, Kind: kindBegin, SQL: "START TRANSACTION"},
		{Session: 1, Kind: kindExec, SQL: insertRequest, InTx: true, Prepared: true},
		{Session: 1, Kind: kindRollback, SQL: "ROLLBACK", InTx: true},
	}
	if d := cmp.Diff(want, log); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if text := log.String(); text != "  1  session 1: START TRANSACTION\n  2  session 1: "+insertRequest+"\n  3  session 1: ROLLBACK\n" {
		t.Errorf("the log reads:\n%s", text)
	}
}

// deaf is a connection to the server on which nothing can be sent any more, once it is cut.
type deaf struct {
	net.Conn
	cut *atomic.Bool
}

func (d deaf) Write(b []byte) (int, error) {
	if d.cut.Load() {
		return 0, syscall.EPIPE
	}
	return d.Conn.Write(b)
}

// TestCloseOfEnded: a pool of sessions that the server has ended closes without an error.
func TestCloseOfEnded(t *testing.T) {
	cfg, cut := configOf(t, dbtest.DSN(t)), new(atomic.Bool)
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return deaf{conn, cut}, err
	}
	cfg.Logger = &mysql.NopLogger{}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]driver.Connector{"the driver's own": inner, "wrapped": Wrap(inner)} {
		cut.Store(false)
		db := sql.OpenDB(c)
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		cut.Store(true)
		if err := db.Close(); (err != nil) != (c == inner) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
