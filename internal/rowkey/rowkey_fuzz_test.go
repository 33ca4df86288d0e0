package rowkey

import (
	"database/sql"
	"errors"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema/catalog"
)

// everyKind is a table with a key of every kind.
const everyKind = `CREATE TABLE every (i BIGINT, u INT UNSIGNED, y YEAR, d DECIMAL(20,6), v VARCHAR(60) CHARACTER SET utf8mb4, e ENUM('a', 'b'),
 b VARBINARY(60), da DATE, dt DATETIME(6), ti TIME(3)) ENGINE=InnoDB`

var everyColumn = []string{"i", "u", "y", "d", "v", "e", "b", "da", "dt", "ti"}

// safe is all that a literal may look like: nothing in it can end it.
var safe = regexp.MustCompile(`^(-?\d+(\.\d+)?|(_utf8mb4 )?x'([0-9a-f]{2})*'|'[-0-9A-Fa-f:. ]+')$`)

// codecs are those of each column, and of pairs of columns.
func codecs(t testing.TB, cat *catalog.Catalog) []Codec {
	t.Helper()
	var list []Codec
	for i, name := range everyColumn {
		for _, columns := range [][]string{{name}, {name, everyColumn[(i+3)%len(everyColumn)]}} {
			c, err := New(cat, "every", columns)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c)
		}
	}
	return list
}

// FuzzParse: what is typed, or comes as an encoded key, is refused as a key or becomes
// literals that no byte can break out of, and these are the same again when they are
// encoded and read.
func FuzzParse(f *testing.F) {
	db := dbtest.Open(f)
	dbtest.Exec(f, db, everyKind)
	cat, err := catalog.Read(f.Context(), db)
	if err != nil {
		f.Fatal(err)
	}
	all := codecs(f, cat)
	for _, seed := range []string{"42", "-1", "18446744073709551615", "007", "1e3", "12.50", "abc", "'abc", "'a%2Cb", "a%252Cb", "0x00ff", "0x", "0xzz", "42,abc", "'; DROP TABLE x; -- ", `\'`,
		"1993-09-21", "1993-09-21 10:00:00.5", "-10:00:00", "1993-09-21' OR '1'='1", "\x00", "\xff\xfe", "😀", "1) OR (1=1", "x'00'", " 7 ", ",", "'%", "/*!1*/", "2024", "\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range all {
			for _, read := range []func(string) (Key, error){c.Parse, c.Decode} {
				k, err := read(text)
				if err != nil {
					if !errors.Is(err, ErrInvalidKey) && !errors.Is(err, onerow.ErrInvalidKey) {
						t.Fatalf("%q: %v", text, err)
					}
					continue
				}
				for _, literal := range c.Parts(k) {
					if !safe.MatchString(literal) {
						t.Fatalf("%q became %q", text, literal)
					}
				}
				encoded, err := c.Encode(k)
				if errors.Is(err, onerow.ErrInvalidKey) && len(text) > onerow.MaxKeyLen/4 {
					continue // too long
				}
				if err != nil {
					t.Fatalf("%q: %s: %v", text, k, err)
				}
				if again, err := c.Decode(encoded); err != nil || again != k {
					t.Fatalf("%q: %s is encoded as %q, which is %s, %v", text, k, encoded, again, err)
				}
			}
		}
	})
}

// FuzzLiteral: text and bytes of any kind, written as literals into a statement, come
// back from a server as they were, whatever the session thinks of quotes and
// backslashes.
func FuzzLiteral(f *testing.F) {
	db := dbtest.Open(f, dbtest.Param("sql_mode", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"))
	dbtest.Exec(f, db, everyKind)
	cat, err := catalog.Read(f.Context(), db)
	if err != nil {
		f.Fatal(err)
	}
	words, err := New(cat, "every", []string{"v"})
	if err != nil {
		f.Fatal(err)
	}
	raw, err := New(cat, "every", []string{"b"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "a", `'; DROP TABLE every; -- `, `\`, `\'`, `"`, "`", "\x00", "\xff", "\r\n\x1a", "😀", "%", "/*!50000 x*/", "?", "x'00'", "\u202e", "ß"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(value) > 200 {
			return
		}
		var got []byte
		back := func(k Key) {
			t.Helper()
			if err := db.QueryRowContext(t.Context(), "SELECT "+string(k)).Scan(&got); err != nil && !errors.Is(err, sql.ErrNoRows) {
				t.Fatalf("%q as %s: %v", value, k, err)
			}
			if string(got) != string(value) {
				t.Fatalf("%q as %s came back as %q", value, k, got)
			}
		}
		if k, err := raw.from(value); err == nil {
			back(k)
		} else {
			t.Fatalf("%q: %v", value, err)
		}
		k, err := words.Parse(string(value))
		if utf8.Valid(value) != (err == nil) {
			t.Fatalf("%q: %v", value, err)
		}
		if err == nil {
			back(k)
			if !safe.MatchString(string(k)) {
				t.Fatalf("%q became %s", value, k)
			}
		}
	})
}

// from is the key of bytes.
func (c Codec) from(value []byte) (Key, error) {
	literal, err := c.parts[0].from(value)
	return Key(literal), err
}
