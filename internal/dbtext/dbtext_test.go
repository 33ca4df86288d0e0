package dbtext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestCharsets: every text comes back as it was from every connection that a driver can open.
func TestCharsets(t *testing.T) {
	const table = "CREATE TABLE note (id INT NOT NULL PRIMARY KEY, words TEXT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
	for charset, collation := range map[string]string{"utf8mb4": "utf8mb4_general_ci", "utf8": "utf8_general_ci", "latin1": "latin1_swedish_ci",
		"ascii": "ascii_general_ci", "cp1251": "cp1251_general_ci", "gbk": "gbk_chinese_ci", "big5": "big5_chinese_ci", "sjis": "sjis_japanese_ci"} {
		for _, interpolate := range []string{"false", "true"} {
			if interpolate == "true" && strings.Contains("gbk big5 sjis", charset) {
				continue // the driver refuses that
			}
			t.Run(charset+" "+interpolate, func(t *testing.T) {
				db := dbtest.Open(t, dbtest.Param("charset", charset), dbtest.Param("collation", collation), dbtest.Param("interpolateParams", interpolate))
				if _, err := db.ExecContext(t.Context(), table); err != nil {
					t.Fatal(err)
				}
				for id, words := range []string{"", "plain", "é 😀", "中文𠜎", "a\x00b'\\\"\n\x1a", "\U0010FFFF\uFFFE", strings.Repeat("😀", 16383)} {
					if _, err := db.ExecContext(t.Context(), "INSERT INTO note (id, words) VALUES (?, "+dbtext.Param+")", id, dbtext.Arg(words)); err != nil {
						t.Errorf("%.20q: %v", words, err)
						continue
					}
					var got string
					if err := db.QueryRowContext(t.Context(), "SELECT CAST(words AS BINARY) FROM note WHERE id = ?", id).Scan(&got); err != nil || got != words {
						t.Errorf("%.20q came back as %.20q, %v", words, got, err)
					}
				}
			})
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"😀", 3, ""}, {"a\xffb", 9, "a\uFFFDb"}, {"\xff\xff", 3, "\uFFFD"},
		{strings.Repeat("é", 100), 101, strings.Repeat("é", 37) + "… (cut, it had 200 bytes)"},
	} {
		if got := dbtext.Fit(c.s, c.n); got != c.want {
			t.Errorf("%q in %d bytes: %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

// FuzzFit: what comes out is valid, fits, and is the text itself where that is valid and fits.
func FuzzFit(f *testing.F) {
	f.Add("aé😀\xff", uint16(3))
	f.Add(strings.Repeat("😀", 50), uint16(100))
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		got := dbtext.Fit(s, int(n))
		if len(got) > int(n) || !utf8.ValidString(got) || utf8.ValidString(s) && len(s) <= int(n) && got != s {
			t.Fatalf("%q in %d bytes is %q", s, n, got)
		}
	})
}
