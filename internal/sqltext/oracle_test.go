package sqltext

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var (
	texts = flag.Int("texts", 4000, "how many texts the servers are asked about, for each test")
	seed  = flag.Uint64("seed", 0, "of the texts; 0: another one each time")
)

func source(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 42))
}

// oracle is a session of a server in a mode.
type oracle struct {
	conn                session
	connector           driver.Connector
	client              Charset
	schema              string
	sqlMode, charset    string
	prepared, confirmed int
}

type session interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
}

// oracles opens a session for each sql_mode and character set. All of them are on one schema.
func oracles(t testing.TB) []*oracle {
	t.Helper()
	dsn := dbtest.DSN(t, dbtest.Param("multiStatements", "true"), dbtest.Param("interpolateParams", "true"), dbtest.Param("lock_wait_timeout", "2"), dbtest.Param("innodb_lock_wait_timeout", "2"))
	db := dbtest.OpenDSN(t, dsn)
	for _, ddl := range []string{
		"CREATE TABLE t (a BIGINT, b VARCHAR(200)) ENGINE=InnoDB", "CREATE TABLE c (a INT) ENGINE=InnoDB", "INSERT INTO t VALUES (1, 'x'), (2, NULL)",
		"CREATE PROCEDURE p () BEGIN COMMIT; END", // what a text does not show
		"CREATE FUNCTION f (x INT) RETURNS INT DETERMINISTIC NO SQL BEGIN SET @w = 1; RETURN x; END",
		"CREATE FUNCTION `now` () RETURNS INT DETERMINISTIC NO SQL BEGIN SET @w = 1; RETURN 1; END",
		"CREATE FUNCTION `count` (x INT) RETURNS INT DETERMINISTIC NO SQL BEGIN SET @w = 1; RETURN x; END",
		"CREATE FUNCTION `coalesce` (x INT) RETURNS INT DETERMINISTIC NO SQL BEGIN SET @w = 1; RETURN x; END",
	} {
		_, err := db.ExecContext(t.Context(), ddl)
		if keyword := number(err) == erSyntax && strings.Contains(ddl, "coalesce"); err != nil && !keyword {
			t.Fatal(ddl, err)
		}
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var all []*oracle
	for _, charset := range []string{"utf8mb4", "gbk", "latin1"} {
		for _, sqlMode := range []string{"", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"} {
			o := &oracle{connector: connector, schema: cfg.DBName, client: charset == "utf8mb4", sqlMode: sqlMode, charset: charset}
			if err := o.connect(t); err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
		}
	}
	return all
}

// connect opens the session, again after the server has closed it.
func (o *oracle) connect(t testing.TB) error {
	conn, err := o.connector.Connect(t.Context())
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = conn.Close() })
	o.conn = conn.(session)
	return o.reset()
}

// reset makes the session what it was.
func (o *oracle) reset() error {
	_, err := o.conn.ExecContext(context.Background(), fmt.Sprintf("ROLLBACK; UNLOCK TABLES; USE %s; SET SESSION sql_mode = '%s', autocommit = 1, completion_type = 0, @w = 0, @o = 0; SET NAMES %s", o.schema, o.sqlMode, o.charset), nil)
	return err
}

func number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

const erSyntax = 1064

// single is what Classify says of a packet.
func single(text string, charset Charset) (placeholders int, ok bool) {
	s := Classify(text, charset)
	return s.Placeholders, s.Travels
}

// single compares what single says of a text with the server.
func (o *oracle) single(text string) error {
	ctx := context.Background()
	n, ok := single(text, o.client)
	stmt, perr := o.conn.PrepareContext(ctx, text)
	if perr == nil {
		o.prepared++
		inputs := stmt.NumInput()
		if err := stmt.Close(); err != nil {
			return err
		}
		if ok && inputs != n {
			return fmt.Errorf("%d placeholders, the server says %d", n, inputs)
		}
	} else if number(perr) == 0 {
		return perr
	}
	if !ok {
		return nil
	}
	if perr == nil {
		o.confirmed++
	} else if number(perr) == erSyntax && n > 0 { // there are places for literals that take no placeholder
		if stmt, perr = o.conn.PrepareContext(ctx, strings.ReplaceAll(text, "?", "7")); perr == nil {
			if err := stmt.Close(); err != nil {
				return err
			}
		}
	}
	args := make([]driver.NamedValue, n+1)
	for i := range args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: int64(7)}
	}
	for _, between := range []string{"; ", ";"} {
		together := text + between + "SELECT 424242 + ?"
		result, err := o.conn.ExecContext(ctx, together, args)
		switch {
		case number(err) == erSyntax && perr == nil:
			return fmt.Errorf("it is prepared, and behind it the server says %w", err)
		case number(err) != 0:
			continue // of the text's own
		case err != nil:
			return fmt.Errorf("together: %w", err)
		case number(perr) == erSyntax:
			return fmt.Errorf("not prepared (%w), but it runs", perr)
		}
		if got := len(result.(mysql.Result).AllRowsAffected()); got != 2 {
			return fmt.Errorf("%d results", got)
		}
		got, err := o.last(together, args)
		if number(err) == 0 && (err != nil || got != "424249") {
			return fmt.Errorf("what follows says %s, %w", got, err)
		}
	}
	return nil
}

// last is the value in the last result.
func (o *oracle) last(text string, args []driver.NamedValue) (string, error) {
	rows, err := o.conn.QueryContext(context.Background(), text, args)
	if err != nil {
		return "", err
	}
	defer rows.Close() //nolint:errcheck // it was read
	last := ""
	for {
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err = rows.Next(row); err != nil {
				break
			}
			last = fmt.Sprintf("%s", row[0])
			if n, ok := row[0].(int64); ok {
				last = fmt.Sprint(n)
			}
		}
		if !errors.Is(err, io.EOF) {
			return last, err
		}
		if err := rows.(driver.RowsNextResultSet).NextResultSet(); errors.Is(err, io.EOF) {
			return last, nil
		} else if err != nil {
			return last, err
		}
	}
}

// writer makes texts up.
type writer struct{ *rand.Rand }

func (w writer) of(s ...string) string { return s[w.IntN(len(s))] }

// gap is what stands between words, mostly.
func (w writer) gap() string {
	if w.IntN(4) > 0 {
		return " "
	}
	return w.of(" ", "\t", "\n", "\r", "\v", "\f", "\r\n", "/**/", "/* x */", "/*;*/", "/* ' */", "/* \" ` */", "-- x\n", "--\n", "--\t'\n", "# \"\n", "#\n", "-- ;\r\n", "/*/ */", "/* -- */", "/* # */", "--\v\n", "--\x01\n",
		"", "/*! */", "/*!99999 x */", "/*M! */", "/*+ x */", "-- \\\n", "/* /* */", "/* ? */", "-- ?\n", "-- é\n", "--x\n", "- -", "\\", "/*", "*/", "-- ", "--", "#", "\x00", "\xa0", "\u00a0", "\u3000")
}

// inside is what stands in quotes.
func (w writer) inside() string {
	var b strings.Builder
	for range w.IntN(4) {
		b.WriteString(w.of("a", "1", " ", ";", "?", "''", `""`, "``", `\\`, `\'`, `\"`, "\\`", `\`, `'`, `"`, "`", "--", "-- ", "#", "/*", "*/", "/*!", "\n", "é", "中", "\xbf", "\xbf\x5c", "\xbf\x27", "\x81\x5c", "\xff", "\\é", `\;`, `\0`, "$$"))
	}
	return b.String()
}

func (w writer) value(depth int) string {
	switch w.IntN(22) {
	case 0, 1, 2, 3:
		return "?"
	case 4, 5, 6, 7:
		return "'" + w.inside() + "'"
	case 8, 9:
		return `"` + w.inside() + `"`
	case 10:
		return "`" + w.of("a", "b", w.inside()) + "`"
	case 11:
		return w.of("N", "n", "x", "X", "b", "_utf8", "_latin1", "_binary", "_gbk", "@", "@@", "t.", ".") + w.of("'"+w.inside()+"'", `"`+w.inside()+`"`, "`a`")
	case 12:
		return w.of("@a", "@a.b", "@$", "@`?`", "@'?'", "@@sql_mode", "@@session.autocommit", "@a := 1", "@a:=?", "@:=1", "@ a", "@-- \n", "@#\n")
	case 13:
		return w.of("a", "b", "t.a", "a$b", "$a", "é", "ä", "1a", "a?", "?a", "?", ":a", ":1", "a.?", "\\N", "NULL", "$$ ? $$", "1$$ ; $$", "1e5$$?$$")
	case 14, 15:
		return w.of("1", "1.5", "1e5", "1e-5", ".5", "1.", "0x41", "0b1", "1e--1", "1--1", "1-- 1\n", "1---1", "-?", "- ?", "--?", "1-?", "1/?", "1*?", "1*/*x*/1", "1/ *2", "1*/ 2", "1 -\n-1")
	case 16, 17:
		if depth < 3 {
			return "(" + w.gap() + w.value(depth+1) + w.gap() + w.of("+", "-", "*", "=", "<", ">", "||", "AND", "->", "<=>", "!=") + w.gap() + w.value(depth+1) + ")"
		}
	case 18, 19:
		return w.of("COUNT", "CONCAT", "IF", "NOW", "f", "COALESCE", "count", "now", "`f`", "`now`") + w.of("", "", "", w.gap()) + "(" + w.of("", "*", "?", "1", "?, ?", "'"+w.inside()+"'") + ")"
	case 20:
		return "(SELECT" + w.gap() + w.value(depth+1) + ")"
	}
	return "1"
}

// data is a statement that may be one that travels.
func (w writer) data() string {
	var b strings.Builder
	add := func(words ...string) {
		for _, s := range words {
			b.WriteString(w.gap() + s)
		}
	}
	values := func() {
		for i := range 1 + w.IntN(3) {
			if i > 0 {
				add(",")
			}
			add(w.value(0))
		}
	}
	switch w.IntN(12) {
	case 0, 1, 2, 3:
		add("SELECT")
		values()
	case 4:
		add("SELECT")
		values()
		add("FROM", "t", "WHERE", "a", w.of("=", "<", "<>"), w.value(0), w.of("", "LIMIT ?", "FOR UPDATE", "INTO @x", "INTO OUTFILE '/x'", "LIMIT?"))
	case 5, 6:
		add("INSERT", "INTO", w.of("t", "`t`", "t(a)", "t (a, b)", `"t"`), "VALUES", "(", w.value(0), ",", w.value(0), ")")
	case 7:
		add("UPDATE", "t", "SET", "b", w.of("=", ":="), w.value(0), "WHERE", "a", "=", w.value(0))
	case 8:
		add("DELETE", "FROM", "t", "WHERE", "a", "=", w.value(0))
	case 9:
		add(w.of("(", ""), "SELECT", w.value(0), w.of(")", ""), "UNION", w.of("(", ""), "SELECT", w.value(0), w.of(")", ""))
	case 10:
		add("WITH", "x", w.of("", "(a)"), "AS", "(", "SELECT", w.value(0), ")", w.of("SELECT * FROM x", "UPDATE t SET a = 1", "DELETE FROM t WHERE a = 0"))
	case 11:
		add(w.of("REPLACE INTO t SELECT 1,", "VALUES ROW(1),", "TABLE t", "INSERT t SET a =", "CALL p()", "DO", "SHOW TABLES", "HANDLER t OPEN", "SET @a ="), w.value(0))
	}
	return b.String()
}

// spoil changes a text.
func (w writer) spoil(text string) string {
	if w.IntN(3) > 0 {
		return text
	}
	for range 1 + w.IntN(2) {
		i := w.IntN(len(text) + 1)
		switch w.IntN(4) {
		case 0:
			text = text[:i] + w.gap() + text[i:]
		case 1:
			text = text[:i] + w.inside() + text[i:]
		case 2:
			text = text[:i] + text[min(i+1+w.IntN(3), len(text)):]
		case 3:
			text += w.of(";", "; ", "; SELECT 1", ";COMMIT", "-- x", "# x", "/* x", "-- x\n", "/* x */", " -", " --", "/", "*/", "'", "\"", "`", "@", "; -- x", "\\g", "\x00", ";;", "-", "\n--", "/*! ; SELECT 1 */")
		}
	}
	return text
}

// TestOracleSingle: what Single lets travel is one statement with its placeholders, whatever follows it.
func TestOracleSingle(t *testing.T) {
	w := writer{source(t)}
	all := oracles(t)
	for i := range *texts {
		o := all[i*len(all) / *texts] // one after the other: an open transaction keeps the tables from others
		text := w.spoil(w.data())
		if err := o.single(text); err != nil {
			t.Errorf("%q in %q, %s: %v", text, o.sqlMode, o.charset, err)
			if o.reset() != nil {
				t.Fatal("the session is gone")
			}
		}
	}
	var prepared, confirmed int
	for _, o := range all {
		prepared, confirmed = prepared+o.prepared, confirmed+o.confirmed
	}
	t.Logf("of %d texts the server took %d, Single %d of these", *texts, prepared, confirmed)
	if confirmed < *texts/20 {
		t.Error("too few are understood for this to show anything")
	}
}

// flags are the server's last word on the session: in a transaction, autocommit. The driver keeps them to
// itself.
func (o *oracle) flags(t testing.TB) (inTx, auto bool) {
	t.Helper()
	if _, err := o.conn.ExecContext(t.Context(), "DO 0", nil); err != nil {
		t.Fatal(err)
	}
	status := reflect.ValueOf(o.conn).Elem().FieldByName("status").Uint()
	return status&1 != 0, status&2 != 0
}

// control is a statement about the session. Spoilt, too, it leaves the rest of the server alone, which others
// use at the same time: nothing GLOBAL, no FLUSH, no KILL.
func (w writer) control() string {
	s := w.of(
		"BEGIN", "BEGIN WORK", "START TRANSACTION", "START TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT , READ WRITE", "BEGIN", "START TRANSACTION", "BEGIN NOT ATOMIC COMMIT ; END",
		"COMMIT", "COMMIT WORK", "COMMIT AND CHAIN", "COMMIT AND NO CHAIN", "COMMIT NO RELEASE", "ROLLBACK", "ROLLBACK WORK", "ROLLBACK AND CHAIN", "ROLLBACK AND NO CHAIN NO RELEASE",
		"SAVEPOINT s", "SAVEPOINT `s`", "ROLLBACK TO s", "ROLLBACK TO SAVEPOINT s", "ROLLBACK WORK TO SAVEPOINT s", "RELEASE SAVEPOINT s", "SAVEPOINT savepoint", "ROLLBACK TO savepoint",
		"SET autocommit = 0", "SET autocommit = 1", "SET autocommit := OFF", "SET SESSION autocommit = ON", "SET @@ autocommit = 'OFF'", "SET @@ session . autocommit = FALSE", "SET LOCAL `autocommit` = TRUE",
		"SET @a = 1 , autocommit = 0", "SET autocommit = @o", "SET sql_mode = '' , autocommit = 0", "SET autocommit = DEFAULT", "SET @ o = 0", "SET autocommit = ( SELECT 0 )", "SET autocommit = 0 , autocommit = 1",
		"SET NAMES utf8mb4", "SET @a = f ( 1 )", "SET @x := 'autocommit=0'", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET time_zone = '+00:00'", "SET completion_type = 1", "SET SESSION completion_type = 0",
		"SELECT 1", "SELECT a FROM t", "SELECT f ( 1 )", "SELECT f( 1 )", "SELECT `f`( 1 )", "SELECT now ( )", "SELECT now( )", "SELECT count ( 1 )", "SELECT coalesce ( 1 )", "SELECT COUNT( * ) FROM t FOR UPDATE", "SELECT 'COMMIT'", "DO f( 1 )", "DO 1", "SHOW TABLES",
		"EXPLAIN SELECT f( 1 )", "EXPLAIN ANALYZE SELECT f( 1 )", "WITH x AS ( SELECT f( 1 ) ) SELECT * FROM x", "VALUES ( f( 1 ) )", "TABLE t", "( SELECT f( 1 ) )",
		"INSERT INTO c VALUES ( 1 )", "INSERT INTO c ( a ) VALUES ( f( 1 ) )", "UPDATE c SET a = 1", "DELETE FROM c", "REPLACE INTO c SELECT 1", "INSERT INTO nowhere VALUES ( 1 )",
		"CREATE TEMPORARY TABLE tmp ( a INT )", "DROP TEMPORARY TABLE IF EXISTS tmp", "CREATE TABLE IF NOT EXISTS c ( a INT )", "DROP TABLE IF EXISTS nowhere", "ANALYZE TABLE c", "CREATE TEMPORARY TABLE IF NOT EXISTS tmp AS SELECT 1 AS x",
		"TRUNCATE c", "ALTER TABLE c COMMENT 'x'", "LOCK TABLES c READ", "UNLOCK TABLES", "CREATE OR REPLACE VIEW v AS SELECT 1 AS a", "OPTIMIZE TABLE c",
		"CALL p ( )", "PREPARE x FROM 'COMMIT'", "PREPARE x FROM 'SELECT 1'", "EXECUTE x", "DEALLOCATE PREPARE x", "EXECUTE IMMEDIATE 'COMMIT'", "EXECUTE IMMEDIATE 'SELECT 1'",
		"/*! COMMIT */", "/*!50000 SET autocommit = 0 */", "/*M! BEGIN */", "SET STATEMENT max_statement_time = 10 FOR SELECT 1", "XA RECOVER", "SELECT 1 ; COMMIT", "SAVEPOINT s ; BEGIN", "HANDLER t OPEN", "HELP 'x'",
		"START x", "USE information_schema", "CHECK TABLE c", "CHECKSUM TABLE c",
	)
	var b strings.Builder
	for i, word := range strings.Split(s, " ") {
		if gap := w.gap(); i > 0 || w.IntN(4) == 0 {
			b.WriteString(gap)
		}
		switch w.IntN(4) {
		case 0:
			word = strings.ToLower(word)
		case 1:
			if !strings.ContainsAny(word, "'`") {
				word = strings.ToUpper(word)
			}
		}
		b.WriteString(word)
	}
	text := b.String() + w.of("", "", "", ";", " ; ", " -- x", "/* x */", "; -- x\n", " # x")
	if w.IntN(8) == 0 {
		return w.spoil(text)
	}
	return text
}

// state sends a text and compares what Classify says of it with the session that is left.
func (o *oracle) state(t testing.TB, text string) (Statement, error) {
	inTx, auto := o.flags(t)
	s := Classify(text, o.client)
	_, err := o.conn.ExecContext(t.Context(), text, nil)
	if s.Quits && number(err) == 0 || s.Kind == Unclear && o.conn.(driver.Pinger).Ping(t.Context()) != nil { // COMMIT RELEASE, answered or not
		t.Logf("%q closes the session", text)
		return s, o.connect(t)
	}
	if err != nil && number(err) == 0 {
		return s, err
	}
	isTx, isAuto := o.flags(t)
	wantTx, wantAuto := inTx, auto
	switch s.Kind {
	case Unclear:
		return s, nil
	case Begin:
		wantTx = true
	case Commit, Rollback:
		wantTx = s.Chain
	case ImplicitCommit:
		wantTx = false
		if !auto { // it may have begun the next one
			wantTx = isTx
		}
	case AutocommitOn:
		wantAuto = true
		if !auto {
			wantTx = false
		}
	case AutocommitOff:
		wantAuto = false
	}
	if err != nil {
		if s.Kind == ImplicitCommit {
			return s, nil
		}
		wantTx, wantAuto = inTx, auto
	}
	if wantTx != isTx && (auto || inTx) || wantAuto != isAuto {
		return s, fmt.Errorf("%v: transaction %v, autocommit %v; then %v, %v, and not %v, %v (%w)", s.Kind, inTx, auto, isTx, isAuto, wantTx, wantAuto, err)
	}
	if s.Kind == Read {
		if w, err := o.last("SELECT CAST(@w AS CHAR)", nil); err != nil || w != "0" {
			return s, fmt.Errorf("it calls a stored function (%s, %w)", w, err)
		}
	}
	return s, nil
}

// TestOracleState: what Classify understands is what the server does.
func TestOracleState(t *testing.T) {
	w := writer{source(t)}
	all := oracles(t)
	count := map[Kind]int{}
	for i := range *texts {
		o := all[i*len(all) / *texts] // one after the other: an open transaction keeps the tables from others
		text := w.control()
		s, err := o.state(t, text)
		count[s.Kind]++
		if err != nil {
			t.Errorf("%q in %q, %s: %v", text, o.sqlMode, o.charset, err)
		}
		if i+1 == *texts || (i+1)*len(all) / *texts != i*len(all) / *texts {
			if _, err := o.conn.ExecContext(t.Context(), "UNLOCK TABLES; ROLLBACK", nil); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil || s.Kind == Unclear || s.Kind == Use || s.Calls || s.SetsChain || s.SetsMode || w.IntN(10) == 0 {
			if err := o.reset(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(count)
}

// FuzzSingle is TestOracleSingle with texts that the fuzzer makes of these.
func FuzzSingle(f *testing.F) {
	all := oracles(f)
	w := writer{rand.New(rand.NewPCG(1, 1))}
	for range 200 {
		f.Add(w.spoil(w.data()))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range all {
			if err := o.single(text); err != nil {
				t.Errorf("in %q, %s: %v", o.sqlMode, o.charset, err)
			}
		}
	})
}

// TestWords: each name that is taken for the grammar's own or for a built-in function is one to the server.
func TestWords(t *testing.T) {
	o := oracles(t)[0]
	for w, kind := range words {
		for _, args := range []string{"()", "(1)", "(1, 2)", "(1, 2, 3)", "(*)", " (1)"} {
			if args[0] == ' ' && kind == function {
				continue
			}
			stmt, err := o.conn.PrepareContext(t.Context(), "SELECT "+w+args)
			switch number(err) {
			case 1305, 1630:
				t.Errorf("%s%s: %v", w, args, err)
			case 0:
				if err != nil {
					t.Fatal(err)
				}
				if err := stmt.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
