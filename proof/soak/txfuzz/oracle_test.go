package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// wants is a transaction that wrote rows 0 and 1 and raised the first counter, and perhaps row 2.
func wants() *expect {
	e := newExpect()
	e.wrote(atom{rows: []int{0, 1}})
	e.wrote(atom{hot: 1})
	e.maybe(atom{rows: []int{2}})
	return e
}

func rowsOf(id int64, numbers ...int) map[int]int64 {
	rows := map[int]int64{}
	for _, n := range numbers {
		rows[n] = valueOf(id, n)
	}
	return rows
}

// TestJudge plants what each kind of finding is about, and what is none beside it.
func TestJudge(t *testing.T) {
	kept := wants()
	kept.ended()
	kept.wrote(atom{rows: []int{3}})
	stray := rowsOf(7, 0, 1)
	stray[1] = 5
	for _, c := range []struct {
		name    string
		verdict verdict
		want    *expect
		there   map[int]int64
		counter int64
		broken  string // "": nothing is
	}{
		{"whole", acked, wants(), rowsOf(7, 0, 1), 1, ""},
		{"whole, with what is not known", acked, wants(), rowsOf(7, 0, 1, 2), 1, ""},
		{"a row is missing", acked, wants(), rowsOf(7, 0), 1, brokenAck},
		{"all are missing", acked, wants(), nil, 1, brokenAck},
		{"a row that was undone is there", acked, wants(), rowsOf(7, 0, 1, 3), 1, brokenAck},
		{"a counter was not raised", acked, wants(), rowsOf(7, 0, 1), 0, brokenCounter},
		{"a counter was raised twice", acked, wants(), rowsOf(7, 0, 1), 2, brokenCounter},
		{"another value", acked, wants(), stray, 1, brokenValue},
		{"failed", failed, wants(), nil, 0, ""},
		{"failed, but there", failed, wants(), rowsOf(7, 0, 1), 0, brokenFailed},
		{"failed, but in part", failed, wants(), rowsOf(7, 2), 0, brokenFailed},
		{"failed, but counted", failed, wants(), nil, 1, brokenCounter},
		{"unknown and whole", unknown, wants(), rowsOf(7, 0, 1), 1, ""},
		{"unknown and absent", unknown, wants(), nil, 0, ""},
		{"unknown and in part", unknown, wants(), rowsOf(7, 1), 0, brokenUnknown},
		{"unknown and absent, but counted", unknown, wants(), nil, 1, brokenCounter},
		{"committed in the middle, then failed", failed, kept, rowsOf(7, 0, 1), 0, ""},
		{"committed in the middle, failed, and the rest is there", failed, kept, rowsOf(7, 0, 1, 3), 0, brokenFailed},
		{"committed in the middle, then acknowledged", acked, kept, rowsOf(7, 0, 1, 3), 1, ""},
		{"committed in the middle, acknowledged, and the rest is lost", acked, kept, rowsOf(7, 0, 1), 1, brokenAck},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := fuzz.NewFindings(1)
			judgeAll([]*record{{id: 7, verdict: c.verdict, want: c.want}}, map[int64]map[int]int64{7: c.there}, [hotRows]int64{c.counter}, found)
			if found.Any() != (c.broken != "") || c.broken != "" && found.Count(c.broken) == 0 {
				t.Errorf("%q", found.Report())
			}
		})
	}
	found := fuzz.NewFindings(1)
	judgeAll(nil, map[int64]map[int]int64{9: rowsOf(9, 0)}, [hotRows]int64{}, found)
	if !found.Any() {
		t.Error("rows of nobody were not found")
	}
}

// TestTold: what a statement's error leaves in doubt; an acknowledged transaction in which a refusal was dropped
// is found.
func TestTold(t *testing.T) {
	killed, duplicate := &mysql.MySQLError{Number: erInterrupted}, &mysql.MySQLError{Number: erDuplicate}
	begin := func(attack string) *op {
		o := &op{world: &world{found: fuzz.NewFindings(1)}, id: 7, pool: &shared{name: "none"}, attack: attack}
		o.attempt()
		return o
	}
	o := begin("")
	if err := o.told(t.Context(), killed, atom{rows: []int{0}}); !errors.Is(err, killed) || !o.cur.may[0] {
		t.Errorf("%v, %+v", err, o.cur)
	}
	o = begin("")
	o.careful = true
	if err := o.told(t.Context(), duplicate, atom{rows: []int{0}}); !errors.Is(err, duplicate) || o.cur.may[0] {
		t.Errorf("%v, %+v", err, o.cur)
	}
	for seed := range uint64(20) {
		o = begin("drops")
		o.seed = seed
		o.attempt()
		if o.told(t.Context(), killed, atom{rows: []int{0}}) != nil {
			continue
		}
		if err := o.end(); err != nil {
			t.Fatal(err)
		}
		if o.record(acked, nil); o.found.Count(brokenDropped) != 1 {
			t.Errorf("%q", o.found.Report())
		}
		return
	}
	t.Error("nothing was ever dropped")
}

// TestProbe finds a session with a transaction open, and has nothing against one without.
func TestProbe(t *testing.T) {
	dsn := dbtest.DSN(t)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin, db := dbtest.OpenDSN(t, dsn), dbtest.OpenDSN(t, dsn)
	dbtest.Exec(t, admin, tables[2])
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{found: fuzz.NewFindings(1), admin: admin, schema: cfg.DBName}
	if w.probe(t.Context(), conn, "clean"); w.found.Any() || w.counts.probes.Load() != 1 {
		t.Errorf("%q, %d", w.found.Report(), w.counts.probes.Load())
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if w.probe(t.Context(), conn, "open"); w.found.Count(brokenOpen) != 1 {
		t.Errorf("%q", w.found.Report())
	}
	dbtest.Exec(t, admin, tables[0])
	rec := &record{id: 7, want: newExpect()}
	rec.want.wrote(atom{rows: []int{0}})
	if _, err := conn.ExecContext(t.Context(), sqlInsert, 7, 0, valueOf(7, 0), ""); err != nil {
		t.Fatal(err)
	}
	if w.visible(t.Context(), rec); w.found.Count(brokenYet) != 1 {
		t.Errorf("%q", w.found.Report())
	}
	if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if w.visible(t.Context(), rec); w.found.Count(brokenYet) != 1 {
		t.Errorf("%q", w.found.Report())
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// TestOvershoot: an answer within -late is none.
func TestOvershoot(t *testing.T) {
	w := &world{found: fuzz.NewFindings(1), late: time.Second}
	for i, over := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-over))
		w.overshoot(ctx, onerow.ErrOutcomeUnknown)
		cancel()
		if got := w.found.Count(brokenLate); got != i || w.counts.worst.Load() < int64(over) {
			t.Errorf("%v: %d", over, got)
		}
	}
}

// TestParseAttacks refuses what is not there: a run without an attack would seem to pass it.
func TestParseAttacks(t *testing.T) {
	if all, err := parseAttacks("all"); err != nil || len(all) != len(attackNames) {
		t.Error(all, err)
	}
	if none, err := parseAttacks("none"); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if _, err := parseAttacks("comments,coments"); err == nil {
		t.Error("coments was taken")
	}
}

// TestBegins: each text that should begin a transaction does on a session that nobody guards, so that what is
// forgotten in it is a finding; and each that goes back to a savepoint goes back.
func TestBegins(t *testing.T) {
	dsn := dbtest.DSN(t)
	admin := dbtest.OpenDSN(t, dsn)
	for _, query := range tables {
		dbtest.Exec(t, admin, query)
	}
	var version string
	if err := admin.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	all := append(plainBegins[:len(plainBegins):len(plainBegins)], disguisedBegins...)
	if strings.Contains(version, "MariaDB") {
		all = append(all, onlyMariaDB...)
	}
	begun := 0
	for i, texts := range all {
		run := func(fn func(conn *sql.Conn) error) error {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			return fn(conn)
		}
		err := run(func(conn *sql.Conn) error {
			for _, text := range texts {
				if _, err := conn.ExecContext(t.Context(), text); err != nil {
					return err
				}
			}
			begun++
			_, err := conn.ExecContext(t.Context(), sqlInsert, i, 0, 0, "")
			return err
		})
		if err != nil {
			t.Logf("%q: %v", texts, err)
			continue
		}
		var n int
		if err := admin.QueryRowContext(t.Context(), sqlCount, i).Scan(&n); err != nil || n != 0 {
			t.Errorf("%q began nothing: %d rows, %v", texts, n, err)
		}
	}
	if begun < len(all)-2 {
		t.Errorf("%d of %d texts were taken", begun, len(all))
	}
	for i, text := range disguisedUndos {
		tx, err := admin.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"SAVEPOINT s", fmt.Sprintf("INSERT INTO effect (tx, n, v) VALUES (%d, 0, 0)", 1000+i), text} {
			if _, err := tx.ExecContext(t.Context(), query); err != nil {
				t.Errorf("%q: %v", query, err)
			}
		}
		var n int
		if err := errors.Join(tx.Commit(), admin.QueryRowContext(t.Context(), sqlCount, 1000+i).Scan(&n)); err != nil || n != 0 {
			t.Errorf("%q took nothing back: %d, %v", text, n, err)
		}
	}
}
