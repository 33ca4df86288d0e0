package plain_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/plain"
	"github.com/onerow/onerow/internal/sqltext"
)

// TestOf: what a text does, and where it is not known. The words of each line are the verbs of the documentation.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		want  plain.Kind
		texts []string
	}{
		{plain.Read, []string{
			"SELECT 1", " select 1 ; ", "(SELECT 1)", "/* app */ SELECT 1", "-- x\nSELECT 1", "# x\nSELECT 1", "SELECT 1 #;", "SELECT 1 -- ;",
			"SELECT ';', \"a''b\", `a;b`", "SELECT 'it''s;'", "SELECT /*+ NO_ICP(t) */ 1", "SELECT COUNT(*) FROM t WHERE a IN (1)", "VALUES (1)", "TABLE t",
			"WITH x AS (SELECT 1) SELECT * FROM x", "SHOW TABLES", "DO 1", "EXPLAIN SELECT 1", "DESC t", "SELECT 1 FROM t FOR UPDATE", "SELECT 1 FROM t /*M! FORCE INDEX (`a b`) */ WHERE a = 1",
		}},
		{plain.Write, []string{"INSERT INTO t VALUES (?)", "UPDATE a$b SET c = 1", ident.InUTC("UPDATE t SET a = ?"), "/*M! SET STATEMENT sql_mode = 'A,B', time_zone = '+00:00' FOR */ INSERT /*+ SET_VAR(sql_mode = 'A') */ INTO t VALUES (1)", "replace t set a = ';'", "UPDATE t SET a = 1;", "DELETE FROM `t;u`"}},
		{plain.Other, []string{
			"SELECT f(1)", "SELECT db.count(1)", "SELECT `f`(1)", "SELECT \"f\"(1)", "SELECT count (1)", "SELECT NEXT VALUE FOR s", "SELECT s.nextval",
			"WITH x AS (SELECT 1) DELETE FROM t", "SET @a = 1", "set @a = 1, @b = 2", "SET SESSION innodb_lock_wait_timeout = 5", "SET @autocommit = 1", "SET @a = (SELECT 1 AS autocommit, 2)", "SET @@session.sql_mode := '', @b = 1", "USE db", "KILL 1", "SIGNAL SQLSTATE '45000'",
			"CREATE TEMPORARY TABLE t (a INT)", "CREATE OR REPLACE TEMPORARY TABLE t (a INT)", "DROP TEMPORARY TABLE t",
		}},
		{plain.Savepoint, []string{"SAVEPOINT a", "RELEASE SAVEPOINT a"}},
		{plain.Undo, []string{"ROLLBACK TO a", "ROLLBACK TO SAVEPOINT a", "ROLLBACK WORK TO a"}},
		{plain.Ends, []string{
			"BEGIN", "START TRANSACTION", "COMMIT", "commit;", "/**/COMMIT", "--\nCOMMIT", "#\nCOMMIT", "ROLLBACK", "ROLLBACK AND CHAIN", "XA START 'a'", "CREATE TABLE t (a INT)",
			"CREATE UNIQUE INDEX temporary ON t (a)", "DROP TABLE t", "ALTER TABLE t ADD a INT", "RENAME TABLE a TO b", "TRUNCATE t", "GRANT ALL ON *.* TO a",
			"LOCK TABLES t WRITE", "FLUSH TABLES", "ANALYZE TABLE t", "OPTIMIZE TABLE t", "SET autocommit = 1", "SET @a = 1, autocommit = 0", "SET SESSION autocommit = 1", "SET @@autocommit = 1", "SET @a = 1, @@session.autocommit = 1",
		}},
		{plain.Unclear, []string{
			"", ";", "x", "SELECT 1; COMMIT", "SELECT 1;;", "SELECT '\\'; COMMIT; -- '", "SELECT \"\\\"", "SELECT 1 /*! ; COMMIT */", "SELECT 1 /*M! , 2 */", "/*m! COMMIT */",
			"SELECT '", "SELECT `a", "SELECT 1 /*", "SELECT /*+ QB_NAME('*/') */ 1", "SELECT $$a;b$$", "SELECT \x00", "SELECT '\xff'", "SELECT \xbf'", "/*M! SET STATEMENT autocommit = 1 FOR */ SELECT 1", "SELECT 1 /*M! SET STATEMENT a = 1 FOR */", "/*M! SET STATEMENT a = 1 FOR COMMIT */ SELECT 1", "SELECT 1a$$b$$", "CALL p()", "PREPARE a FROM 'COMMIT'",
			"EXECUTE a", "DROP PREPARE a", "EXPLAIN ANALYZE DELETE FROM t", "ANALYZE UPDATE t SET a = 1", "SET @a = 1, `autocommit` = 1",
			"SET @a = 1, PASSWORD = 'x'", "SET @a = 1, DEFAULT ROLE NONE", "SET DEFAULT ROLE NONE", "SET ROLE x", "SET @a", "SET @@persist.autocommit = 1", "SET GLOBAL autocommit = 1", "SET STATEMENT max_statement_time = 1 FOR COMMIT", "SET PASSWORD = 'x'",
			"XA RECOVER", "ALTER INSTANCE ROTATE INNODB MASTER KEY", "LOCK INSTANCE FOR BACKUP", "SET NAMES gbk",
		}},
	} {
		for _, text := range c.texts {
			if got := plain.Of(text); got != c.want {
				t.Errorf("%q is %v, not %v", text, got, c.want)
			}
			sound(t, text)
		}
	}
}

// sound holds a text's kind to what package sqltext says of it, which its own tests hold to the servers.
func sound(t *testing.T, text string) {
	t.Helper()
	s := sqltext.Classify(text, sqltext.UTF8)
	ok := true
	switch plain.Of(text) {
	case plain.Read:
		ok = s.Kind == sqltext.Read
	case plain.Write:
		ok = s.Kind == sqltext.Write
	case plain.Savepoint:
		ok = s.Kind == sqltext.Savepoint || s.Kind == sqltext.Release
	case plain.Undo:
		ok = s.Kind == sqltext.RollbackTo
	case plain.Ends:
		ok = s.EndsTx() || s.Kind == sqltext.Unclear // more is refused than need be
	case plain.Other:
		ok = s.Kind != sqltext.Unclear && !s.EndsTx()
	}
	if !ok {
		t.Errorf("%q is %v, and to sqltext it is %q", text, plain.Of(text), s.Kind)
	}
}

// FuzzOf: what is plain is not read otherwise by package sqltext.
func FuzzOf(f *testing.F) {
	for _, text := range []string{
		"SELECT 'a;b' FROM `t` /* c */ WHERE a = ? -- d", "SET @a = 'autocommit', @b = 1", "WITH x AS (SELECT 1) UPDATE t SET a = f(1)", "CREATE OR REPLACE TEMPORARY TABLE t (a INT)",
		"/*+ a */ ROLLBACK WORK TO SAVEPOINT `a`", "INSERT INTO t (a) VALUES ('it''s', \"x\")", "SELECT 1 #\n; COMMIT",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "?", " ? ") // ?0 is no placeholder to sqltext, and an error to the servers
		if plain.Of(text) == plain.Unclear {
			return
		}
		if sqltext.Classify(text, sqltext.UTF8).Kind != sqltext.Unclear {
			sound(t, text)
			return
		}
		// No statement that a server knows; but one, all of which was read.
		if all, ok := sqltext.Split(text, sqltext.UTF8); !ok || len(all) != 1 {
			t.Errorf("%q is %v, and to sqltext it is %q, %v", text, plain.Of(text), all, ok)
		}
	})
}
