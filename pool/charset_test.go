package pool_test

import (
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/pool"
)

// found is how many rows an attacker's name finds, where no row has it.
func found(t testing.TB, db *sql.DB, name string) int {
	t.Helper()
	dbtest.Exec(t, db, "CREATE TABLE IF NOT EXISTS secret (id INT PRIMARY KEY, name VARCHAR(50)) ENGINE=InnoDB CHARACTER SET utf8mb4")
	dbtest.Exec(t, db, "REPLACE INTO secret VALUES (1, 'ada'), (2, 'bob')")
	var n int
	if err := onerow.QueryRow(t.Context(), db, "SELECT COUNT(*) FROM secret WHERE name = ?", []any{name}, &n); err != nil && mysqlerr.Number(err) == 1064 {
		t.Errorf("the argument was read as SQL: %v", err)
	}
	return n
}

const (
	wide  = "\xbf' OR 1=1 -- "   // a backslash before the quote makes a character of gbk with the byte before it
	plain = `\' OR 1=1 -- `      // the backslash is doubled where it means something
	quote = "' OR 1=1 -- "       //
	twice = "\xe9\\' OR 1=1 -- " // the second byte of a character is a backslash already
)

// TestInjection: no character set that a data source name can ask for, and no sql_mode, lets an argument end
// its quotes.
func TestInjection(t *testing.T) {
	for _, params := range [][]string{
		{}, {"charset=gbk"}, {"charset=gbk,utf8mb4"}, {"charset=nonsense,gbk"}, {"charset=big5"}, {"charset=sjis"}, {"charset=cp932"},
		{"charset=GBK"}, {"collation=gbk_chinese_ci"}, {"collation=sjis_bin"}, {"character_set_client=gbk"}, {"@@session.character_set_client='gbk'"},
		{"character_set_connection=gbk"}, {"max_sort_length=1024,+character_set_client=gbk"}, {"wait_timeout=600,character_set_client=gbk"},
		{"charset=utf8mb4", "sql_mode='NO_BACKSLASH_ESCAPES'"}, {"charset=gbk", "sql_mode='NO_BACKSLASH_ESCAPES'"}, {"sql_mode='NO_BACKSLASH_ESCAPES'"},
		{"charset=gb18030,gbk"}, {"interpolateParams=false", "charset=gbk"},
	} {
		t.Run(strings.Join(params, "&"), func(t *testing.T) {
			for i, p := range params {
				name, value, _ := strings.Cut(p, "=")
				if strings.Contains(value, "'") || strings.Contains(value, "+") {
					params[i] = name + "=" + url.QueryEscape(strings.ReplaceAll(value, "+", " "))
				}
			}
			db, err := pool.Open(floortest.Bare(t, params...))
			if errors.Is(err, pool.ErrSetting) { // a part of the three that say the character set
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // the test is over
			for _, name := range []string{wide, plain, quote, twice} {
				if n := found(t, db, name); n != 0 {
					t.Errorf("%q finds %d rows", name, n)
				}
			}
		})
	}
	// The control: what the attack does without Open.
	if n := found(t, dbtest.OpenDSN(t, floortest.Bare(t, "charset=gbk", "interpolateParams=true")), wide); n != 2 {
		t.Errorf("the attack finds %d rows: it proves nothing", n)
	}
}

// TestInterpolationRefused: asked for with an unsafe character set it is refused, and the error says which.
func TestInterpolationRefused(t *testing.T) {
	for params, setting := range map[string]string{
		"charset=gbk": "charset", "charset=utf8mb4,big5": "charset", "collation=gbk_chinese_ci": "collation", "collation=gb18030_bin": "collation",
		"charset=swe7": "charset", "character_set_client=sjis": "character_set_client", "charset=unheard_of": "charset",
	} {
		for _, asked := range []string{"true", "1", "TRUE"} {
			_, err := pool.Open("app:hunter2@tcp(127.0.0.1:3306)/app?" + params + "&interpolateParams=" + asked) //nolint:sqlclosecheck // there is none
			var detail *pool.SettingError
			if !errors.Is(err, pool.ErrSetting) || !errors.As(err, &detail) || detail.Setting != setting || detail.Value == "" || detail.Fix == "" {
				t.Errorf("%s: %v", params, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %v", err)
			}
		}
	}
	for _, params := range []string{"charset=utf8mb4", "charset=latin1,utf8", "collation=latin1_swedish_ci", "character_set_client='utf8mb4'", "collation=ascii_bin"} {
		db, err := pool.Open("app@tcp(127.0.0.1:3306)/app?interpolateParams=true&" + params)
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSafeCharsets holds the list against the server: in each of its character sets in which Open
// interpolates, every byte before a backslash or a quote stays an argument. The unsafe ones fail that, so it
// can be failed.
func TestSafeCharsets(t *testing.T) {
	admin := dbtest.OpenDSN(t, floortest.Bare(t))
	var all []string
	err := onerow.Query(t.Context(), admin, "SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for first := range 256 {
		args = append(args, []byte{byte(first), '\\'}, []byte{byte(first), '\''}, []byte{byte(first), 'x'})
	}
	query := "SELECT CONCAT_WS(','" + strings.Repeat(", HEX(?)", len(args)) + ")"
	var want string
	if err := onerow.QueryRow(t.Context(), admin, query, args, &want); err != nil {
		t.Fatal(err)
	}
	safe, unsafe := 0, 0
	for _, charset := range all {
		if slices.Contains([]string{"ucs2", "utf16", "utf16le", "utf32"}, charset) {
			continue // not for clients, the server says
		}
		cfg, err := mysql.ParseDSN(floortest.Bare(t, "charset="+charset))
		if err != nil {
			t.Fatal(err)
		}
		can := pool.CanInterpolate(cfg)
		forced := dbtest.OpenDSN(t, cfg.FormatDSN()+"&interpolateParams=true")
		var got string
		err = onerow.QueryRow(t.Context(), forced, query, args, &got)
		held := err == nil && got == want
		if can && !held {
			t.Errorf("%s is called safe: %v", charset, err)
		}
		if held {
			safe++
		} else {
			unsafe++
		}
	}
	if safe < 20 || unsafe < 4 {
		t.Errorf("%d held, %d did not", safe, unsafe)
	}
}

// TestForcedCharset: a server that is set to put all clients into a character set of its own does not get
// interpolated text in it.
func TestForcedCharset(t *testing.T) {
	t.Parallel()
	dsn := floortest.Private(t, "--init-connect=SET NAMES gbk")
	admin := dbtest.OpenDSN(t, dsn)
	for _, host := range []string{"localhost", "127.0.0.1"} {
		dbtest.Exec(t, admin, "CREATE USER app@'"+host+"'") // init_connect is not for root
		dbtest.Exec(t, admin, "GRANT ALL ON app.* TO app@'"+host+"'")
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.User = "app"
	isolation := map[string]string{dbtest.Server(t).IsolationVariable(): "'REPEATABLE-READ'"}
	for _, collation := range []string{"", "utf8mb4_general_ci", "latin1_swedish_ci"} {
		for _, params := range []map[string]string{nil, isolation} {
			cfg.Collation, cfg.InterpolateParams, cfg.Params = collation, false, params
			if n := found(t, floortest.Opened(t, cfg.FormatDSN()), wide); n != 0 {
				t.Errorf("%s %v: %d rows", collation, params, n)
			}
		}
	}
	cfg.InterpolateParams = true
	if n := found(t, dbtest.OpenDSN(t, cfg.FormatDSN()), wide); n != 2 {
		t.Errorf("the attack finds %d rows: it proves nothing", n)
	}
}
