package sqltext

import (
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		text string
		want Statement
	}{
		{"", Statement{}}, {";", Statement{}}, {"-- nothing", Statement{}}, {"/* nothing */", Statement{}},

		{"BEGIN", Statement{Kind: Begin}}, {" begin work ; ", Statement{Kind: Begin}}, {"--\nBEGIN", Statement{Kind: Begin}}, {"# c\nBEGIN -- c", Statement{Kind: Begin}},
		{"BEGIN NOT ATOMIC SELECT 1; END", Statement{}}, {"BEGIN\u00a0", Statement{}}, {"BEGIN x", Statement{}}, {"--BEGIN", Statement{}},
		{"START/**/TRANSACTION", Statement{Kind: Begin}}, {"START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", Statement{Kind: Begin}},
		{"START TRANSACTION READ WRITE", Statement{Kind: Begin}}, {"START TRANSACTION x", Statement{}}, {"START", Statement{}},
		{"START SLAVE", Statement{Kind: ImplicitCommit}}, {"START REPLICA", Statement{Kind: ImplicitCommit}}, {"START GROUP_REPLICATION", Statement{}},
		{"/*!50000 START TRANSACTION */", Statement{}}, {"/*M! START TRANSACTION */", Statement{}}, {"/*! BEGIN */", Statement{}}, {"SELECT 1 /*! ; COMMIT */", Statement{}},

		{"commit;", Statement{Kind: Commit}}, {"COMMIT WORK AND CHAIN", Statement{Kind: Commit, Chain: true}}, {"COMMIT AND NO CHAIN NO RELEASE", Statement{Kind: Commit, NoChain: true}},
		{"COMMIT RELEASE", Statement{Kind: Commit, Quits: true}}, {"COMMIT /* and chain */", Statement{Kind: Commit}}, {"COMMIT; SELECT 1", Statement{}}, {"COMMIT;;", Statement{}},
		{"COMMIT AND", Statement{}}, {"COMMIT NO", Statement{}}, {"COMMIT 'x", Statement{}}, {"COMMIT\x00", Statement{}},
		{"ROLLBACK", Statement{Kind: Rollback}}, {"ROLLBACK AND CHAIN", Statement{Kind: Rollback, Chain: true}},

		{"ROLLBACK /*x*/ TO SAVEPOINT s", Statement{Kind: RollbackTo, Name: "s"}}, {"rollback work to `a``b`;", Statement{Kind: RollbackTo, Name: "a`b"}},
		{"ROLLBACK TO SAVEPOINT", Statement{Kind: RollbackTo, Name: "SAVEPOINT"}}, {"ROLLBACK TO savepoint savepoint", Statement{Kind: RollbackTo, Name: "savepoint"}},
		{"ROLLBACK TO", Statement{}}, {"SAVEPOINT S1", Statement{Kind: Savepoint, Name: "S1"}}, {"SAVEPOINT 1a", Statement{Kind: Savepoint, Name: "1a"}}, {"SAVEPOINT a b", Statement{}},
		{"SAVEPOINT ä", Statement{Kind: Savepoint, Name: "ä"}}, {`SAVEPOINT "a"`, Statement{Kind: Savepoint, Name: "a"}}, {"RELEASE SAVEPOINT work", Statement{Kind: Release, Name: "work"}}, {"RELEASE x", Statement{}},

		{"XA START 'a'", Statement{Kind: Begin}}, {"xa begin 'a','b',1", Statement{Kind: Begin}}, {"XA END 'a'", Statement{Kind: XAEnd}}, {"XA PREPARE x'41'", Statement{Kind: Commit}},
		{"XA COMMIT 'a' ONE PHASE", Statement{Kind: Commit}}, {"XA ROLLBACK 'a'", Statement{Kind: Rollback}}, {"XA RECOVER", Statement{Kind: Read}}, {"XA", Statement{}},

		{"SET autocommit=0", Statement{Kind: AutocommitOff}}, {"SET /**/ `autocommit` := ON;", Statement{Kind: AutocommitOn}}, {"SET @@session.autocommit := 'OFF'", Statement{Kind: AutocommitOff}},
		{"SET @@ autocommit = 0", Statement{Kind: AutocommitOff}}, {"SET sql_mode='', LOCAL autocommit=TRUE", Statement{Kind: AutocommitOn, SetsMode: true}}, {"SET autocommit = false, x = 1", Statement{Kind: AutocommitOff}},
		{"SET GLOBAL autocommit = 0", Statement{Kind: Set}}, {"SET @@PERSIST.autocommit = @x", Statement{Kind: Set}}, {"SET @autocommit = 0", Statement{Kind: Set}}, {"SET @@global.sql_mode = ''", Statement{Kind: Set}},
		{"SET autocommit = @o", Statement{}}, {"SET autocommit = DEFAULT", Statement{}}, {"SET autocommit = 1 - 1", Statement{}}, {"SET autocommit = ?", Statement{}}, {"SET autocommit = 2", Statement{}}, {"SET autocommit =", Statement{}},
		{"SET autocommit = 'O' 'N'", Statement{}}, {"SET autocommit = 0, autocommit = 1", Statement{}}, {"SET GLOBAL x = 1, autocommit = 0", Statement{}}, {"SET session.autocommit = 0", Statement{}}, {"SET autocommit", Statement{}}, {"SET", Statement{}},
		{"SET GLOBAL x = 1, SESSION autocommit = 0", Statement{Kind: AutocommitOff}}, {"SET @a, autocommit = 0", Statement{Kind: Set}}, {"SET @ a = 0", Statement{}}, {"SET CHARACTER autocommit = 0", Statement{}}, {"SET NAMES = utf8", Statement{}},
		{"SET @a = 'x', @b := (SELECT f(1, 2)), autocommit = 0", Statement{Kind: AutocommitOff, Calls: true}}, {"SET NAMES utf8mb4 COLLATE utf8mb4_bin, @@sql_mode = ?", Statement{Kind: Set, Placeholders: 1, SetsMode: true}},
		{"SET CHARACTER SET latin1", Statement{Kind: Set, SetsMode: true}}, {"SET charset latin1", Statement{Kind: Set, SetsMode: true}}, {"SET LOCAL `character_set_client` = gbk", Statement{Kind: Set, SetsMode: true}}, {"SET char set 'gbk'", Statement{Kind: Set, SetsMode: true}},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", Statement{Kind: Set}}, {"SET GLOBAL TRANSACTION READ ONLY", Statement{Kind: Set}}, {"SET TRANSACTION = 1", Statement{}}, {"SET TRANSACTION READ ONLY, autocommit = 1", Statement{Kind: AutocommitOn}},
		{"SET completion_type=CHAIN", Statement{Kind: Set, SetsChain: true}}, {"SET completion_type = @x", Statement{Kind: Set, SetsChain: true}}, {"SET completion_type = DEFAULT", Statement{Kind: Set, SetsChain: true}}, {"SET GLOBAL completion_type = 1", Statement{Kind: Set}},
		{"SET completion_type = 1, completion_type = no_chain", Statement{Kind: Set}}, {"SET @@completion_type = 0, @@local.completion_type = 'RELEASE'", Statement{Kind: Set, SetsChain: true}},
		{"SET ROLE r", Statement{Kind: Set}}, {"SET role = 1", Statement{Kind: Set}}, {"SET STATEMENT max_statement_time=1 FOR COMMIT", Statement{}}, {"SET PASSWORD = 'x'", Statement{}}, {"SET a.b = 1", Statement{}}, {"SET x = 1 2, y = 3", Statement{Kind: Set}},
		{"SET autocommit=0; COMMIT", Statement{}},

		{"SELECT 1", Statement{Kind: Read, Travels: true}}, {"SELECT 1;", Statement{Kind: Read}}, {"((SELECT ?) UNION (SELECT ?))", Statement{Kind: Read, Placeholders: 2, Travels: true}},
		{"SELECT COUNT(*), Count( DISTINCT a) FROM t WHERE a IN (?) AND (b OR NOT (c))", Statement{Kind: Read, Placeholders: 1, Travels: true}},
		{"SELECT f(1)", Statement{Kind: Write, Calls: true, Travels: true}}, {"SELECT COUNT (1)", Statement{Kind: Write, Calls: true, Travels: true}}, {"SELECT db.COUNT(1)", Statement{Kind: Write, Calls: true, Travels: true}},
		{"SELECT `count`(1)", Statement{Kind: Write, Calls: true, Travels: true}}, {"SELECT NEXT VALUE FOR s", Statement{Kind: Write, Calls: true, Travels: true}}, {"SELECT s.nextval", Statement{Kind: Write, Calls: true, Travels: true}},
		{"SELECT 1 INTO OUTFILE '/x'", Statement{Kind: Read}}, {"SELECT 1 INTO @x", Statement{Kind: Read}}, {"SELECT '?'", Statement{Kind: Read, Differs: true}}, {"SELECT 1 /* ? */", Statement{Kind: Read, Differs: true}},
		{"SELECT 1 -- x", Statement{Kind: Read}}, {"SELECT 1 -- x\n", Statement{Kind: Read, Travels: true}}, {"SELECT 1 # x", Statement{Kind: Read}}, {"SELECT 1 --", Statement{Kind: Read, Differs: true}}, {"SELECT 1 /* x", Statement{}},
		{"SELECT 1--1", Statement{Kind: Read, Travels: true}}, {"SELECT 'a;b', `c;d`, \"e;f\" /* g;h */", Statement{Kind: Read, Travels: true}},
		{"SELECT /*+ MAX_EXECUTION_TIME(1000) */ 1", Statement{Kind: Read, Travels: true}}, {"SELECT /*+ set_var(sort_buffer_size=1) */ 1", Statement{Kind: Read}}, {"SELECT /*+ x('*/') */ 1", Statement{}},
		{"SELECT ?a", Statement{}}, {"SELECT :1", Statement{}}, {"SELECT $$ ; $$", Statement{}}, {"SELECT 1e5$$ ; $$", Statement{}}, {"SELECT @a := 1, @`b`, @'c', @@sql_mode, a$b", Statement{Kind: Read, Travels: true}},
		{`SELECT 'it''s'`, Statement{Kind: Read, Travels: true}}, {`SELECT 'it\'s'`, Statement{}}, {`SELECT '\'`, Statement{}}, {"SELECT \"a", Statement{}}, {"SELECT (1", Statement{Kind: Read}},
		{"WITH a (x) AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a", Statement{Kind: Read, Travels: true}}, {"WITH a AS (SELECT 1) UPDATE t SET x = 1", Statement{Kind: Write, Travels: true}},
		{"WITH a AS (DELETE FROM t)", Statement{}}, {"SELECT x FROM (SELECT 1) t(x) WHERE MATCH (x) AGAINST (?)", Statement{Kind: Read, Placeholders: 1, Travels: true}}, {"VALUES ROW(1)", Statement{Kind: Read, Travels: true}}, {"TABLE t", Statement{Kind: Read, Travels: true}},
		{"SELECT ??", Statement{Kind: Read, Placeholders: 2, Differs: true}}, {"SELECT 7?", Statement{Kind: Read, Placeholders: 1, Differs: true}}, {"SELECT ? 'x'", Statement{Kind: Read, Placeholders: 1, Differs: true}},
		{"SELECT 'x' ?", Statement{Kind: Read, Placeholders: 1, Differs: true}}, {"SELECT ? `x`", Statement{Kind: Read, Placeholders: 1, Travels: true}}, {"SELECT ? + ?, 'x'", Statement{Kind: Read, Placeholders: 2, Travels: true}},
		{"SHOW TABLES", Statement{Kind: Read}}, {"EXPLAIN SELECT 1", Statement{Kind: Read}}, {"EXPLAIN ANALYZE SELECT f()", Statement{}}, {"DO SLEEP(1)", Statement{Kind: Read}}, {"DO f(1)", Statement{Kind: Write, Calls: true}},

		{"INSERT INTO t (a, b) VALUES (?, NOW(6)) ON DUPLICATE KEY UPDATE a = VALUES(a)", Statement{Kind: Write, Placeholders: 2 - 1, Travels: true}},
		{"INSERT INTO db.`t` (a) SELECT f(1)", Statement{Kind: Write, Calls: true, Travels: true}}, {"INSERT t VALUES (f(1))", Statement{Kind: Write, Calls: true, Travels: true}},
		{"INSERT INTO t (SELECT f())", Statement{Kind: Write, Calls: true, Travels: true}}, {"INSERT INTO t PARTITION (p) (a) VALUES (1) AS n(x)", Statement{Kind: Write, Travels: true}},
		{"REPLACE t SET a = f(1)", Statement{Kind: Write, Calls: true, Travels: true}}, {"UPDATE t SET a = ?", Statement{Kind: Write, Placeholders: 1, Travels: true}}, {"DELETE FROM t;", Statement{Kind: Write}},

		{"CREATE TABLE t (a INT)", Statement{Kind: ImplicitCommit}}, {"CREATE TEMPORARY TABLE t (a INT)", Statement{Kind: Temporary}}, {"create or replace temporary table t as select 1", Statement{Kind: Temporary}},
		{"DROP/**/TEMPORARY TABLE t", Statement{Kind: Temporary}}, {"DROP PREPARE s", Statement{}}, {"TRUNCATE t", Statement{Kind: ImplicitCommit}}, {"ANALYZE TABLE t", Statement{Kind: ImplicitCommit}}, {"ANALYZE UPDATE t SET a = 1", Statement{}},
		{"LOCK TABLES t READ", Statement{Kind: ImplicitCommit, Locks: true}}, {"UNLOCK TABLES", Statement{}}, {"USE `db`", Statement{Kind: Use, Name: "db"}},

		{"CALL p()", Statement{}}, {"PREPARE s FROM 'COMMIT'", Statement{}}, {"EXECUTE s", Statement{}}, {"EXECUTE IMMEDIATE 'COMMIT'", Statement{}}, {"DEALLOCATE PREPARE s", Statement{}},
		{"HANDLER t OPEN", Statement{}}, {"LOAD DATA INFILE 'x' INTO TABLE t", Statement{}}, {"FLIRT", Statement{}}, {"IF 1 THEN COMMIT; END IF", Statement{}},
	} {
		if got := Classify(c.text, UTF8); got != c.want {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
}

// TestModes: what reads otherwise in some sql_mode or character set is not understood.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		text    string
		charset Charset
		want    bool
	}{
		{`SELECT '\'; COMMIT -- '`, UTF8, false}, {`SELECT '\''`, UTF8, false}, {`SELECT '\'`, UTF8, false}, {`SELECT "\"`, UTF8, false}, {`SELECT "a"`, UTF8, true}, {`SELECT "a\b"`, UTF8, false}, {`SELECT ''''`, UTF8, true},
		{"SELECT `a\\b`", UTF8, true}, {"SELECT /*/ */ 1", UTF8, false}, {"SELECT 1 --\v\n", UTF8, false}, {"SELECT a FROM t LIMIT?", UTF8, false}, {"SELECT ??", UTF8, false}, {"SELECT ?'a'", UTF8, false}, {"SELECT 'a'?", UTF8, false}, {"SELECT ?,-?", UTF8, true},
		{`SELECT 'ä'`, OtherCharset, false}, {`SELECT ä`, OtherCharset, false}, {`SELECT ä`, UTF8, true}, {"SELECT \xff", UTF8, false}, {"SELECT '\xff'", UTF8, true},
		{"SELECT 1 -- ä\n", OtherCharset, false}, {"SELECT '\xbf\x5c'", OtherCharset, false},
	} {
		if _, ok := single(c.text, c.charset); ok != c.want {
			t.Errorf("%s in UTF-8 %v: %v", c.text, c.charset, ok)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"BEGIN; INSERT INTO t VALUES (';') ; COMMIT", "BEGIN| INSERT INTO t VALUES (';') | COMMIT", true}, {"SELECT 1", "SELECT 1", true}, {"; ;", "", true}, {"SELECT '", "", false}, {"BEGIN; -- ;\n;", "BEGIN", true},
	} {
		if got, ok := Split(c.text, OtherCharset); strings.Join(got, "|") != c.want || ok != c.ok {
			t.Errorf("%q: %q %v", c.text, got, ok)
		}
	}
}

const benchSelect = "SELECT id, name, state FROM project WHERE user_id = ? AND name_key = ? FOR UPDATE"
const benchInsert = "INSERT INTO project (user_id, name, name_key, created_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6))"

func BenchmarkClassify(b *testing.B) {
	for _, c := range []struct{ name, text string }{{"select", benchSelect}, {"insert", benchInsert}, {"commit", "COMMIT"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Classify(c.text, UTF8)
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	for _, text := range []string{benchSelect, benchInsert, "COMMIT", "ROLLBACK TO `a`"} {
		if n := testing.AllocsPerRun(100, func() { Classify(text, UTF8) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}
