package rowkey

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema/catalog"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func inspect(t testing.TB, db *sql.DB) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// keys reads the keys of the rows of t for which a condition holds.
func keys(t testing.TB, db onerow.DB, c Codec, where string) (list []Key) {
	t.Helper()
	err := onerow.Query(t.Context(), db, "SELECT "+c.Select("t")+" FROM t WHERE "+where, nil, func(rows *sql.Rows) error {
		values, dest := make([]sql.NullString, c.Width()), []any{}
		for i := range values {
			dest = append(dest, &values[i])
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		k, ok := c.Key(values)
		if !ok {
			return errors.New("a key is NULL")
		}
		list = append(list, k)
		return nil
	})
	if err != nil {
		t.Fatalf("where %s: %v", where, err)
	}
	return list
}

// kindsOfKeys are the types with values that are apart under the column's collation.
var kindsOfKeys = map[string][]any{
	"TINYINT":                        {-128, 0, 127},
	"BIGINT":                         {-9223372036854775808, -1, 9223372036854775807},
	"BIGINT UNSIGNED":                {0, uint64(18446744073709551615)},
	"INT(8) UNSIGNED ZEROFILL":       {0, 7, 4294967295},
	"YEAR":                           {1901, 2155},
	"DECIMAL(20,6)":                  {"-12345678901234.567890", "0", "12.5"},
	"DECIMAL(8,2) UNSIGNED ZEROFILL": {"0.25", "12.5"},
	"VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci": {"", "a", `b'"\`, "c\x00d", "e,f%,2C", "😀", "'; DROP TABLE t; -- ", "ß\n"},
	"VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin":        {"a", "A", "á", "\\", "'", "\\'"},
	"VARCHAR(60) CHARACTER SET latin1 COLLATE latin1_swedish_ci":   {"caf\u00e9", "€", "a'b\\"},
	"VARCHAR(60) CHARACTER SET ascii":                              {"abc", "x\\'"},
	"VARCHAR(60) CHARACTER SET utf16":                              {"abc", "é😀"},
	"CHAR(12) CHARACTER SET utf8mb4":                               {"", "ab", "a b"},
	"BINARY(4)":                                                    {[]byte{0, 0, 0, 0}, []byte{1, 2, 0, 0}, []byte{0xff, 0x27, 0x5c, 0x22}},
	"VARBINARY(20)":                                                {[]byte{}, []byte{0}, []byte("a"), []byte("A"), []byte{0xc3, 0x28}, []byte{'\'', '\\'}},
	"DATE":                                                         {"1993-09-21", "2040-01-01"},
	"DATETIME":                                                     {"1993-09-21 10:00:00"},
	"DATETIME(6)":                                                  {"1993-09-21 10:00:00.000001", "1993-09-21 10:00:00.000002"},
	"TIME(3)":                                                      {"-120:00:00.500", "10:00:00.000"},
	"ENUM('z','a','it''s')":                                        {"z", "a", "it's"},
	"SET('x','y')":                                                 {"x", "x,y"},
}

// sessions are settings that must make no difference.
var sessions = map[string]map[string]string{
	"plain": nil,
	"odd":   {"sql_mode": "'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", "time_zone": "'+05:00'", "character_set_connection": "latin1", "character_set_results": "latin1"},
}

// TestEveryType: a key that was read finds exactly its row, survives Encode and Decode,
// and the row is found by an index.
func TestEveryType(t *testing.T) {
	for session, params := range sessions {
		for typ, values := range kindsOfKeys {
			t.Run(session+"/"+typ, func(t *testing.T) {
				dsn := dbtest.DSN(t)
				plain := dbtest.OpenDSN(t, dsn)
				dbtest.Exec(t, plain, "CREATE TABLE t (k "+typ+" NOT NULL, n INT NOT NULL, PRIMARY KEY (k)) ENGINE=InnoDB")
				for i, v := range values {
					dbtest.Exec(t, plain, "INSERT INTO t VALUES (?, ?)", v, i)
				}
				c, err := New(inspect(t, plain), "t", []string{"K"})
				if err != nil {
					t.Fatal(err)
				}
				cfg, err := mysql.ParseDSN(dsn)
				if err != nil {
					t.Fatal(err)
				}
				if params != nil {
					cfg.Params, cfg.ParseTime, cfg.Loc, cfg.InterpolateParams = params, true, time.UTC, true
				}
				db := dbtest.OpenDSN(t, cfg.FormatDSN())
				for i := range values {
					k := keys(t, db, c, fmt.Sprintf("n = %d", i))[0]
					found := keys(t, db, c, c.In("t", []Key{k}))
					if len(found) != 1 || found[0] != k {
						t.Errorf("%q finds %q", k, found)
					}
					encoded, err := c.Encode(k)
					if err != nil {
						t.Errorf("encode %q: %v", k, err)
					}
					if again, err := c.Decode(encoded); err != nil || again != k {
						t.Errorf("%q is %q, is %q again: %v", k, encoded, again, err)
					}
				}
				all := keys(t, db, c, "1 = 1")
				if found := keys(t, db, c, c.In("", all)); len(found) != len(values) {
					t.Errorf("%d rows of %d", len(found), len(values))
				}
				if o := c.Ordered(); len(keys(t, db, o, o.In("t", keys(t, db, o, "1 = 1")))) != len(values) {
					t.Error("the ordered keys do not find the rows")
				}
			})
		}
	}
}

// handlerReads is how many rows the session's storage engine has been asked for by key,
// and how many by reading on.
func handlerReads(t testing.TB, db onerow.DB) (byKey, on int64) {
	t.Helper()
	err := onerow.Query(t.Context(), db, "SHOW SESSION STATUS LIKE 'Handler_read%'", nil, func(rows *sql.Rows) error {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		if name == "Handler_read_key" {
			byKey += n
		} else if strings.Contains(name, "next") {
			on += n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return byKey, on
}

// TestIndex: In reads as many entries as there are keys, in SELECT, UPDATE and DELETE, on
// one column and on several, of any character set.
func TestIndex(t *testing.T) {
	for _, typ := range []string{"INT", "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "VARCHAR(40) CHARACTER SET latin1", "VARBINARY(40)", "DECIMAL(10,2)", "DATE"} {
		for _, columns := range [][]string{{"a"}, {"b", "a"}, {"b", "c", "a"}} {
			t.Run(typ+fmt.Sprint(columns), func(t *testing.T) {
				pool := dbtest.Open(t)
				dbtest.Exec(t, pool, fmt.Sprintf("CREATE TABLE t (a %[1]s NOT NULL, b INT NOT NULL, c BIGINT NOT NULL, x INT NOT NULL DEFAULT 0, PRIMARY KEY (%[2]s)) ENGINE=InnoDB", typ, strings.Join(columns, ", ")))
				value := "i"
				if typ == "DATE" {
					value = "'2001-01-01' + INTERVAL i DAY"
				}
				dbtest.Exec(t, pool, "INSERT INTO t (a, b, c) WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 900) SELECT "+value+", i % 7, i FROM s")
				dbtest.Exec(t, pool, "ANALYZE TABLE t")
				c, err := New(inspect(t, pool), "t", columns)
				if err != nil {
					t.Fatal(err)
				}
				conn, err := pool.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				some := keys(t, conn, c, "c % 9 = 0")
				for _, stmt := range []string{"SELECT " + c.Select("t") + " FROM t FORCE INDEX (PRIMARY) WHERE " + c.In("t", some),
					"UPDATE t FORCE INDEX (PRIMARY) SET x = x + 1 WHERE " + c.In("t", some), "DELETE t FROM t AS t FORCE INDEX (PRIMARY) WHERE " + c.In("t", some)} {
					byKey, on := handlerReads(t, conn)
					if strings.HasPrefix(stmt, "SELECT") {
						if err := onerow.Query(t.Context(), conn, stmt, nil, func(*sql.Rows) error { return nil }); err != nil {
							t.Fatal(err)
						}
					} else if n, err := onerow.Affected(t.Context(), conn, stmt); err != nil || n != int64(len(some)) {
						t.Fatalf("%d rows of %d: %v", n, len(some), err)
					}
					byKeyNow, onNow := handlerReads(t, conn)
					if byKeyNow-byKey > int64(len(some))+10 || onNow-on > int64(len(some))+10 {
						t.Errorf("%.20s… of %d rows read %d entries by key and %d more", stmt, len(some), byKeyNow-byKey, onNow-on)
					}
				}
			})
		}
	}
}

func TestComposite(t *testing.T) {
	db := dbtest.Open(t)
	dbtest.Exec(t, db, "CREATE TABLE t (n INT UNSIGNED NOT NULL, s VARCHAR(20) NOT NULL, b VARBINARY(9) NOT NULL, d DATE NOT NULL, f DOUBLE, ts TIMESTAMP NULL, j TEXT, PRIMARY KEY (n, s, b)) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO t (n, s, b, d) VALUES (1, 'a,b', x'00', '2000-01-01'), (1, 'a,b', x'01', '2000-01-01'), (1, 'c)', x'00', '2000-01-01'), (2, '', x'', '2000-01-01')")
	cat := inspect(t, db)
	c, err := New(cat, "t", []string{"n", "s", "b"})
	if err != nil {
		t.Fatal(err)
	}
	all := keys(t, db, c, "1 = 1")
	if found := keys(t, db, c, c.In("t", all[:3])+" AND d = '2000-01-01'"); len(found) != 3 {
		t.Errorf("found %q", found)
	}
	if _, ok := c.Key([]sql.NullString{{String: "1", Valid: true}, {}, {}}); ok {
		t.Error("a key with NULL")
	}
	for typed, want := range map[string]Key{
		"7,abc,0x00ff":    "(7,_utf8mb4 x'616263',x'00ff')",
		"7,'a%2Cb,0x":     "(7,_utf8mb4 x'612c62',x'')",
		" 7 ,a' OR 1,0x0": "", "7,abc": "", "x,abc,0x00": "", "-7,abc,0x00": "", "7,\xff,0x00": "", "7,a,b": "",
	} {
		k, err := c.Parse(typed)
		if k != want || want == "" && (!errors.Is(err, onerow.ErrInvalidKey) || !strings.Contains(err.Error(), "the key of t is n (an integer), s (text), b (bytes like 0x00ff)")) {
			t.Errorf("Parse(%q) = %q, %v", typed, k, err)
		}
	}
	for _, encoded := range []string{"", "1", "1,2,3", "'1,'a,0x00", "1,'a,'b", "1,'\xff,0x00"} {
		if k, err := c.Decode(encoded); !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("Decode(%q) = %q, %v", encoded, k, err)
		}
	}
	for _, column := range []string{"f", "ts", "j", "none"} {
		if _, err := New(cat, "t", []string{column}); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), column) {
			t.Errorf("%s: %v", column, err)
		}
	}
	if _, err := New(cat, "t", nil); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	dates, err := New(cat, "t", []string{"d"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dates.Parse("1' OR '1"); !errors.Is(err, ErrInvalidKey) {
		t.Error(err)
	}
	if k, err := dates.Parse("1993-09-21"); err != nil || k != "'1993-09-21'" || dates.Fits(c) {
		t.Error(k, err)
	}
	where, err := Where(cat, "t", "t", map[string]string{"s": "it's", "n": "2"})
	if err != nil || where != "`t`.`n` = 2 AND `t`.`s` = _utf8mb4 x'69742773'" {
		t.Error(where, err)
	}
	if _, err := Where(cat, "t", "t", map[string]string{"n": "x"}); !errors.Is(err, ErrInvalidKey) {
		t.Error(err)
	}
}
