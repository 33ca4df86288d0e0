package acknowledged_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/guard"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
)

// endings are what a text ends with.
var endings = []string{
	"", " -- note", " -- note\n", " # note", " # note\n", " --", " /* note */", " /* note", "/*! note", " /*!50000 ;*/", "/*M!100000 , x = 1 */",
	";", "; ", " ; ;", ";-- x", "; COMMIT", "; # x\n", "'", `"`, "`", `\`, "\x00", "?", " ?", " -- ?", " /* ? */",
}

// The statements that end so. Each has two placeholders.
const (
	writes = "INSERT INTO note SET tag = ?, a = ?"
	reads  = "SELECT a FROM probe WHERE tag = ? - ? + 7 AND a = 7" // the tag of the call, which is not that of a row
)

// breakout leaves a comment, and sets a column, where it is not escaped.
const breakout = "\n, x = 2 -- "

// text is one that a case is given.
type text struct {
	kind string // writes or reads
	end  string
	args func(tag int) []any
	want bool // its arguments are as many as it has placeholders
}

// textsOf are all of a kind. With a wrong number of arguments there are fewer: what ends the text matters little.
func textsOf(kind string) (all []text) {
	for _, end := range endings {
		all = append(all, text{kind, end, func(tag int) []any { return []any{tag, 7} }, true})
	}
	for _, end := range []string{"", "?", " ?", " -- ?", " /* ? */", ";", " /* note"} {
		all = append(all,
			text{kind, end, func(tag int) []any { return []any{tag} }, false},
			text{kind, end, func(tag int) []any { return []any{tag, 7, 3} }, false},
			text{kind, end, func(tag int) []any { return []any{tag, 7, breakout} }, false})
	}
	return all
}

func (x text) query() string { return x.kind + x.end }

func (x text) String() string { return fmt.Sprintf("%q with %v", x.query(), x.args(1)) }

// world is a schema with a pool of one session on it, and with another session.
type world struct {
	t      *testing.T
	name   string
	dsn    string
	plain  *sql.DB // without the toolkit
	pool   *sql.DB
	multi  bool // the pool was asked to take several statements
	tag    int
	tally  int64
	expect map[string]expected
}

// expected is what a server makes of a text that is prepared, without the toolkit.
type expected struct {
	err error
	x   sql.NullInt64
}

// worlds are the pools and modes.
func worlds(t *testing.T, run func(w *world)) {
	t.Helper()
	for _, mode := range []string{"", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES"} {
		for _, name := range []string{"Open", "Guard", "Open, multiStatements", "Guard, multiStatements", "Packets"} {
			if mode != "" && name != "Open" && name != "Guard" {
				continue
			}
			t.Run(strings.TrimSpace(name+" "+mode), func(t *testing.T) {
				t.Parallel()
				run(newWorld(t, name, mode))
			})
		}
	}
}

func newWorld(t *testing.T, name, mode string) *world {
	t.Helper()
	var opts []dbtest.Option
	if mode != "" {
		opts = append(opts, dbtest.Param("sql_mode", url.QueryEscape("CONCAT(@@sql_mode, ',"+mode+"')")))
	}
	dsn := dbtest.DSN(t, opts...)
	w := &world{t: t, name: name, dsn: dsn, plain: dbtest.OpenDSN(t, dsn), multi: strings.Contains(name, "multi"), tag: 100, expect: map[string]expected{}}
	if err := migrations.Up(t.Context(), w.plain); err != nil {
		t.Fatal(err)
	}
	for _, ddl := range []string{
		"CREATE TABLE note (tag INT NOT NULL, a INT NOT NULL, x INT NULL, KEY (tag)) ENGINE=InnoDB",
		"CREATE TABLE mark (tag INT NOT NULL, name VARCHAR(10) NOT NULL, a INT NOT NULL, KEY (tag)) ENGINE=InnoDB",
		"CREATE TABLE probe (tag INT PRIMARY KEY, a INT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE tally (n BIGINT NOT NULL) ENGINE=InnoDB",
		"INSERT INTO tally VALUES (0)",
	} {
		dbtest.Exec(t, w.plain, ddl)
	}
	w.pool = newPool(t, name, dsn)
	w.pool.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := w.pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func newPool(t *testing.T, name, dsn string) *sql.DB {
	t.Helper()
	if name, more, _ := strings.Cut(name, ", "); name == "Open" {
		if more != "" {
			dsn += "&multiStatements=true"
		}
		db, err := pool.Open(dsn)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MultiStatements = name != "Guard"
	cfg.InterpolateParams = name != "Guard"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	wrap := pool.Guard
	if name == "Packets" {
		wrap = func(c driver.Connector) driver.Connector { return guard.Packets(c) }
	}
	return sql.OpenDB(wrap(connector))
}

// asks finds out what the server makes of a text.
func (w *world) asks(x text) expected {
	w.t.Helper()
	e, known := w.expect[x.query()]
	if known {
		return e
	}
	w.tag++
	tag := w.tag
	if x.kind == writes {
		_, e.err = w.plain.ExecContext(w.t.Context(), x.query(), tag, 7)
	} else {
		dbtest.Exec(w.t, w.plain, "INSERT INTO probe VALUES (?, 7)", tag)
		_, e.err = read(w.t.Context(), w.plain, x.query(), tag, 7)
	}
	if e.err == nil && x.kind == writes {
		e.x = dbtest.Scan[sql.NullInt64](w.t, w.plain, "SELECT x FROM note WHERE tag = ?", tag)
	}
	w.expect[x.query()] = e
	return e
}

// read is the one value that a query gives, or an error.
func read(ctx context.Context, db onerow.DB, query string, args ...any) (got []int64, err error) {
	err = onerow.Query(ctx, db, query, args, scanInto(&got))
	return got, err
}

func scanInto(got *[]int64) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		*got = append(*got, n)
		return err
	}
}

// call is one call of a case with a text.
type call struct {
	ctx   context.Context
	w     *world
	tag   int
	query string
	args  []any

	runs    int     // of the function
	got     []int64 // what the query gave
	ignored error   // of the text, which the function dropped
	dropped bool
}

// stmt is the text.
func (c *call) stmt() onerow.Stmt { return onerow.Stmt{Query: c.query, Args: c.args} }

// mark is a statement that travels with it.
func (c *call) mark(name string) onerow.Stmt {
	return onerow.Stmt{Query: "INSERT INTO mark SET tag = ?, name = ?, a = ?", Args: []any{c.tag, name, len(name)}}
}

// left is what another session finds of a call.
type left struct {
	n, claims, tally int64
	a, x             sql.NullInt64
	marks            string
}

const sqlLeft = `SELECT (SELECT COUNT(*) FROM note WHERE tag = ?), (SELECT MAX(a) FROM note WHERE tag = ?), (SELECT MAX(x) FROM note WHERE tag = ?),
 (SELECT COALESCE(GROUP_CONCAT(CONCAT(name, '=', a) ORDER BY name), '') FROM mark WHERE tag = ?),
 (SELECT COUNT(*) FROM onerow_serial_claim WHERE claim_key = ?), (SELECT n FROM tally)`

// try calls a case with a text, and asks the other session.
func (w *world) try(c acase, x text) {
	w.t.Helper()
	e := w.asks(x)
	w.tag++
	at := &call{w: w, tag: w.tag, query: x.query(), args: x.args(w.tag)}
	if x.kind == reads {
		dbtest.Exec(w.t, w.plain, "INSERT INTO probe VALUES (?, 7)", at.tag)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	at.ctx = ctx
	err := c.do(at)

	dbtest.Exec(w.t, w.pool, "UPDATE tally SET n = n + 1") // by itself: seen at once
	w.tally++
	var l left
	if err := w.plain.QueryRowContext(w.t.Context(), sqlLeft, at.tag, at.tag, at.tag, at.tag, fmt.Sprint(at.tag)).Scan(&l.n, &l.a, &l.x, &l.marks, &l.claims, &l.tally); err != nil {
		w.t.Fatal(err)
	}
	for _, wrong := range w.judge(c, x, e, at, err, l) {
		w.t.Errorf("%s: %s: %s\n\tthe call: %v\n\tthe server by itself: %v\n\tthere is: %+v", c.name, x, wrong, err, e.err, l)
	}
	w.tally = l.tally
	next := onerow.InTx(w.t.Context(), w.pool, func(ctx context.Context, tx *onerow.Tx) error {
		return packet.ExecLast(ctx, tx, onerow.Stmt{Query: "UPDATE tally SET n = n + ?", Args: []any{1}})
	})
	if w.tally++; next != nil {
		w.t.Errorf("%s: %s: the next call: %v", c.name, x, next)
	}
}

// judge says what is wrong.
func (w *world) judge(c acase, x text, e expected, at *call, err error, l left) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if l.tally != w.tally {
		say("of %d updates of its pool another session sees %d: a transaction is open", w.tally, l.tally)
	}
	if errors.Is(err, onerow.ErrOutcomeUnknown) {
		say("nothing was unknown")
	}
	if at.runs > 2 {
		say("%d runs", at.runs)
	}
	sent := err
	if at.dropped && err == nil {
		sent = at.ignored
	}
	several := w.multi && strings.Contains(x.end, ";") // the number of rows, or the error, may be that of the last
	switch {
	case sent == nil && !x.want:
		say("a wrong number of arguments is no error")
	case sent == nil && e.err != nil && !several:
		say("the server refuses it")
	case sent != nil && e.err == nil && x.want && !several:
		say("the server takes it")
	}
	claims := int64(0)
	if c.claims && err == nil {
		claims = 1
	}
	if l.claims != claims {
		say("%d claims are there", l.claims)
	}
	marks := ""
	if err == nil {
		marks = c.marks
	}
	if l.marks != marks {
		say("of the company %q is there", l.marks)
	}
	if x.kind == reads {
		if err == nil && sent == nil && (len(at.got) != 1 || at.got[0] != 7) {
			say("it gave %v", at.got)
		}
		return wrong
	}
	switch {
	case sent != nil && l.n != 0 && !several:
		say("it is there")
	case sent == nil && (l.n != 1 || l.a.Int64 != 7 || l.x != e.x && e.err == nil):
		say("it is not there as it was written")
	}
	return wrong
}

// everyText has each case tried with each text, which takes minutes.
const everyText = "ONEROW_TEXTS"

// TestTexts: whatever a text ends with, what is acknowledged is there for another session, and of what failed
// nothing is. The texts are dealt to the ways in which an op is called: each op gets each of them, in each pool
// in another way.
func TestTexts(t *testing.T) {
	var at atomic.Int64
	worlds(t, func(w *world) {
		deal := int(at.Add(1))
		for _, o := range ops {
			cases := o.cases()
			for i, x := range textsOf(o.kind()) {
				for j, c := range cases {
					if os.Getenv(everyText) == "all" || (i+j+deal)%len(cases) == 0 {
						w.try(c, x)
					}
				}
			}
		}
	})
}
