package pool_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
)

// TestServersDefaults: whatever the server has for all sessions, a pool of Open is right and Check passes it,
// with one host and with several. Check refuses any other pool there, and says what to change.
func TestServersDefaults(t *testing.T) {
	t.Parallel()
	dsn := floortest.Private(t)
	bare, _, _ := strings.Cut(dsn, "?")
	admin := dbtest.OpenDSN(t, bare)
	admin.SetMaxIdleConns(0)
	was := map[string]string{"completion_type": "0", "unique_checks": "1", "foreign_key_checks": "1", "sql_safe_updates": "0", "sql_auto_is_null": "0",
		"sql_select_limit": "18446744073709551615", "sql_big_selects": "1", "sql_mode": "DEFAULT"}
	hostile := map[string][]string{"completion_type": {"1", "2"}, "unique_checks": {"0"}, "foreign_key_checks": {"0"}, "sql_safe_updates": {"1"}, "sql_auto_is_null": {"1"},
		"sql_select_limit": {"1", "0"}, "sql_big_selects": {"0"}}
	hostile["sql_mode"] = []string{"'PAD_CHAR_TO_FULL_LENGTH'", "'ANSI,PAD_CHAR_TO_FULL_LENGTH,STRICT_ALL_TABLES'"}
	if dbtest.Server(t).Engine() == devdb.MariaDB {
		hostile["sql_mode"] = append(hostile["sql_mode"], "'EMPTY_STRING_IS_NULL'", "'EMPTY_STRING_IS_NULL,ANSI,STRICT_ALL_TABLES'", "'ORACLE,EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH'")
	}
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		for _, value := range hostile[name] {
			t.Run(name+"="+value, func(t *testing.T) {
				dbtest.Exec(t, admin, "SET GLOBAL "+name+" = "+value)
				defer dbtest.Exec(t, admin, "SET GLOBAL "+name+" = "+was[name])
				if name == "sql_big_selects" {
					dbtest.Exec(t, admin, "SET GLOBAL max_join_size = 1")
					defer dbtest.Exec(t, admin, "SET GLOBAL max_join_size = 18446744073709551615")
				}
				wantSetting(t, pool.Check(t.Context(), admin), name)
				for _, own := range []string{bare, dsn, bare + "?sql_mode=DEFAULT", bare + "?sql_mode=CONCAT(@@sql_mode,',ANSI_QUOTES')", bare + "?multiStatements=false",
					bare + "?lock_wait_timeout=7,@@session.completion_type=1", strings.Replace(bare, ")/", ",127.0.0.1:1)/", 1)} {
					right(t, own)
				}
			})
		}
	}
}

// right sees that a pool is set up, finds all rows, and loses nothing when it is closed.
func right(t *testing.T, dsn string) {
	t.Helper()
	ctx := t.Context()
	db := floortest.Opened(t, dsn)
	db.SetMaxOpenConns(1)
	if err := pool.Check(ctx, db); err != nil {
		t.Errorf("%s: %v", dsn, err)
	}
	for _, statement := range []string{"DROP TABLE IF EXISTS account", "CREATE TABLE account (id INT PRIMARY KEY, note VARCHAR(9) NOT NULL) ENGINE=InnoDB"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Errorf("%s: %s: %v", dsn, statement, err)
		}
	}
	if err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO account VALUES (1, ?), (2, ?)", "", "x")
		return err
	}); err != nil {
		t.Errorf("%s: %v", dsn, err)
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO account VALUES (3, '')"); err != nil { // what a chain would take with it
		t.Errorf("%s: %v", dsn, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	n := 0
	if err := onerow.Query(ctx, floortest.Opened(t, dsn), "SELECT id FROM account WHERE note <> 'y'", nil, func(*sql.Rows) error {
		n++
		return nil
	}); err != nil || n != 3 {
		t.Errorf("%s: %d rows, %v", dsn, n, err)
	}
}

// TestHostileServer: a Begin and its Complete are there when the pool is closed, and migrations that have run
// are found, where a COMMIT begins the next transaction, or a result has one row only.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	bare, _, _ := strings.Cut(floortest.Private(t), "?")
	admin := dbtest.OpenDSN(t, bare)
	key := idempotency.Key{Tenant: "7", Operation: "charge", ID: "a"}
	for i, c := range []struct{ set, back string }{{"completion_type = 1", "completion_type = 0"}, {"sql_select_limit = 1", "sql_select_limit = 18446744073709551615"}} {
		t.Run(c.set, func(t *testing.T) {
			dbtest.Exec(t, admin, "SET GLOBAL "+c.set)
			defer dbtest.Exec(t, admin, "SET GLOBAL "+c.back)
			keys, err := idempotency.New(idempotency.Config{})
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, admin, fmt.Sprint("CREATE DATABASE hostile", i))
			dsn := fmt.Sprint(strings.TrimSuffix(bare, "app"), "hostile", i)
			db := floortest.Opened(t, dsn)
			db.SetMaxOpenConns(1)
			for range 2 {
				if err := migrations.Up(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
			// Whatever committed last, in the one session.
			err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				return onerow.QueryRow(ctx, tx, "SELECT 1", nil, new(int))
			})
			if err != nil {
				t.Fatal(err)
			}
			claim, _, err := idempotency.Begin[string](t.Context(), db, keys, key)
			if err == nil {
				err = keys.Complete(t.Context(), db, claim, "done")
			}
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			if _, out, err := idempotency.Begin[string](t.Context(), floortest.Opened(t, dsn), keys, key); err != nil || out == nil || out.Row != "done" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// TestForcedCharsets: no bytes are lost where a server puts clients, or a part of what they say, into a
// character set of its own: in init_connect, or because it does not look at the handshake.
func TestForcedCharsets(t *testing.T) {
	t.Parallel()
	servers := [][]string{{"--init-connect=SET NAMES latin1"}, {"--init-connect=SET collation_connection = latin1_bin, character_set_results = latin1"},
		{"--init-connect=SET character_set_connection = utf16"}, {"--init-connect=SET character_set_results = NULL"}}
	if dbtest.Server(t).Engine() == devdb.MariaDB {
		servers = append(servers, []string{"--skip-character-set-client-handshake", "--character-set-server=latin1"})
	}
	for _, args := range servers {
		mixed := strings.Contains(args[0], "_") // what puts all three into one is fit for what can be written in it
		t.Run(args[0], func(t *testing.T) {
			dsn := floortest.Private(t, args...)
			admin := dbtest.OpenDSN(t, dsn)
			dbtest.Exec(t, admin, "CREATE USER app@'%'") // init_connect is not for root
			dbtest.Exec(t, admin, "GRANT ALL ON app.* TO app@'%'")
			dbtest.Exec(t, admin, "CREATE TABLE text (id INT PRIMARY KEY, bytes VARBINARY(9), name VARCHAR(9)) ENGINE=InnoDB CHARACTER SET utf8mb4")
			bare, _, _ := strings.Cut(strings.Replace(dsn, "root", "app", 1), "?")
			for i, params := range []string{"", "?interpolateParams=false", "?collation=utf8mb4_bin", "?charset=utf8mb4"} {
				db := floortest.Opened(t, bare+params)
				if err := pool.Check(t.Context(), db); err != nil {
					t.Errorf("%s: %v", params, err)
				}
				want, name := []byte{0, 0xff, '\'', 0xc3}, "ü😀"
				dbtest.Exec(t, db, "INSERT INTO text VALUES (?, ?, ?)", i, want, name)
				var got []byte
				var back string
				if err := onerow.QueryRow(t.Context(), db, "SELECT bytes, name FROM text WHERE id = ?", []any{i}, &got, &back); err != nil || !bytes.Equal(got, want) || back != name {
					t.Errorf("%s: %x, %q, %v", params, got, back, err)
				}
			}
			if err := pool.Check(t.Context(), dbtest.OpenDSN(t, bare+"?interpolateParams=true")); errors.Is(err, pool.ErrSetting) != mixed {
				t.Errorf("another pool: %v", err)
			}
		})
	}
}
