package pool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/pool"
)

func wantSetting(t *testing.T, err error, setting string) {
	t.Helper()
	var detail *pool.SettingError
	if !errors.Is(err, pool.ErrSetting) || !errors.As(err, &detail) {
		t.Errorf("%s: %v", setting, err)
		return
	}
	same := func(name string) string { return strings.Replace(name, "tx_", "transaction_", 1) } // MariaDB 11 has both
	if same(detail.Setting) != same(setting) || detail.Value == "" || detail.Why == "" || detail.Fix == "" || !strings.Contains(err.Error(), detail.Setting) {
		t.Errorf("%s: %v", setting, err)
	}
}

// TestCheck: a pool of whatever origin whose sessions cannot keep a promise is refused, and one that can is
// not.
func TestCheck(t *testing.T) {
	isolation := dbtest.Server(t).IsolationVariable()
	readOnly := strings.Replace(isolation, "isolation", "read_only", 1)
	for _, c := range []struct{ param, setting string }{
		{"autocommit=0", "autocommit"},
		{"autocommit=OFF", "autocommit"},
		{isolation + "='READ-UNCOMMITTED'", isolation},
		{"completion_type=1", "completion_type"},
		{"completion_type='RELEASE'", "completion_type"},
		{"unique_checks=0", "unique_checks"},
		{"foreign_key_checks=0", "foreign_key_checks"},
		{"sql_auto_is_null=1", "sql_auto_is_null"},
		{"sql_select_limit=1", "sql_select_limit"},
		{"max_join_size=1000&sql_big_selects=0", "sql_big_selects"},
		{"timestamp=1", "timestamp"},
		{"character_set_connection=utf16", "character_set_connection"},
		{"character_set_connection=latin1", "character_set_connection"},
		{"collation_connection=latin1_bin", "character_set_connection"},
		{"character_set_results=utf16", "character_set_results"},
		{"character_set_results=latin1", "character_set_results"},
		{"character_set_results=NULL", "character_set_results"},
		{"character_set_client=gbk&interpolateParams=false", "character_set_connection"},
		{"charset=binary", "character_set_connection"},
		{"sql_safe_updates=1", "sql_safe_updates"},
		{readOnly + "=1", readOnly},
		{"charset=gbk&interpolateParams=true", "character_set_client"},
		{"character_set_client=sjis&interpolateParams=true", "character_set_client"},
		{"charset=big5&interpolateParams=true", "character_set_client"},
		{"charset=gbk", ""},
		{"charset=utf8mb3", ""},
		{"collation_connection=utf8mb4_bin", ""},
		{"timestamp=0", ""},
		{"sql_select_limit=18446744073709551615", ""},
		{"charset=gbk&collation=gbk_bin", ""},
		{"charset=latin1&interpolateParams=true", ""},
		{"autocommit=1", ""},
		{isolation + "='REPEATABLE-READ'", ""},
		{isolation + "='SERIALIZABLE'", ""},
		{"sql_mode='ANSI,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'&interpolateParams=true", ""},
	} {
		t.Run(c.param, func(t *testing.T) {
			db := dbtest.OpenDSN(t, floortest.Bare(t, c.param))
			err := pool.Check(t.Context(), db)
			if c.setting == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantSetting(t, err, c.setting)
		})
	}
	if err := pool.Check(t.Context(), floortest.Opened(t, floortest.Bare(t))); err != nil {
		t.Error(err)
	}
	closed := floortest.Opened(t, floortest.Bare(t))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := pool.Check(t.Context(), closed); err == nil || errors.Is(err, pool.ErrSetting) {
		t.Error(err)
	}
}

// TestCheckServer: settings of the server.
func TestCheckServer(t *testing.T) {
	t.Parallel()
	isolation := dbtest.Server(t).IsolationVariable()
	dsn := floortest.Private(t, "--log-bin=binlog", "--binlog-format=STATEMENT", "--server-id=1", "--autocommit=OFF")
	db := dbtest.OpenDSN(t, dsn)
	wantSetting(t, pool.Check(t.Context(), db), "autocommit")

	// Open sets autocommit itself, whether the isolation level is said or not.
	for _, own := range []string{dsn + "&binlog_format='STATEMENT'", dsn[:strings.IndexByte(dsn, '?')] + "?binlog_format='STATEMENT'"} {
		db := floortest.Opened(t, own)
		var on int
		if err := onerow.QueryRow(t.Context(), db, "SELECT @@autocommit", nil, &on); err != nil || on != 1 {
			t.Errorf("autocommit %d, %v", on, err)
		}
		wantSetting(t, pool.Check(t.Context(), db), "binlog_format")
	}
	admin := floortest.Opened(t, dsn)
	admin.SetMaxOpenConns(1)
	wantSetting(t, pool.Check(t.Context(), admin), "binlog_format")
	if err := pool.Check(t.Context(), floortest.Opened(t, dsn+"&"+isolation+"='REPEATABLE-READ'")); err != nil {
		t.Error(err)
	}
	dbtest.Exec(t, admin, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
	if _, err := admin.ExecContext(t.Context(), "INSERT INTO account VALUES (1, 0)"); mysqlerr.Number(err) != 1665 {
		t.Errorf("the refusal is for nothing: %v", err)
	}
	dbtest.Exec(t, admin, "SET binlog_format = ROW")
	dbtest.Exec(t, admin, "SET sql_log_bin = 0")
	wantSetting(t, pool.Check(t.Context(), admin), "sql_log_bin")
	dbtest.Exec(t, admin, "SET sql_log_bin = 1")
	if err := pool.Check(t.Context(), admin); err != nil {
		t.Error(err)
	}
	dbtest.Exec(t, admin, "SET GLOBAL read_only = 1")
	wantSetting(t, pool.Check(t.Context(), admin), "read_only")
	dbtest.Exec(t, admin, "SET GLOBAL read_only = 0")
	if dbtest.Server(t).Engine() == devdb.MariaDB {
		dbtest.Exec(t, admin, "SET enforce_storage_engine = 'InnoDB'")
		if err := pool.Check(t.Context(), admin); err != nil {
			t.Error(err)
		}
		dbtest.Exec(t, admin, "SET enforce_storage_engine = 'MyISAM'")
		wantSetting(t, pool.Check(t.Context(), admin), "enforce_storage_engine")
	}
	if dbtest.Server(t).Engine() == devdb.MySQL {
		dbtest.Exec(t, admin, "SET GLOBAL super_read_only = 1")
		wantSetting(t, pool.Check(t.Context(), admin), "super_read_only")
	}
}

// TestOpenRefuses what the data source name itself says.
func TestOpenRefuses(t *testing.T) {
	for param, setting := range map[string]string{
		"autocommit=0": "autocommit", "autocommit=false": "autocommit", "@@session.autocommit='OFF'": "@@session.autocommit",
		"transaction_isolation='READ-UNCOMMITTED'": "transaction_isolation", "tx_isolation=%27read-uncommitted%27": "tx_isolation",
		"@@session.tx_isolation=0": "@@session.tx_isolation",
		"completion_type=1":        "completion_type", "completion_type='RELEASE'": "completion_type", "session completion_type=CONCAT('CH','AIN')": "session completion_type",
		"unique_checks=0": "unique_checks", "foreign_key_checks=OFF": "foreign_key_checks", "sql_safe_updates=1": "sql_safe_updates",
		"sql_auto_is_null=ON": "sql_auto_is_null", "@@sql_select_limit=1": "@@sql_select_limit", "sql_big_selects=0": "sql_big_selects",
		"sql_mode='ANSI,Empty_String_Is_Null'": "sql_mode", "sql_mode=4294967296": "sql_mode", "sql_mode=2147483648": "sql_mode", "sql_mode=CONCAT(@@sql_mode,',Pad_char_to_full_length')": "sql_mode", "sql_log_bin=0": "sql_log_bin", "timestamp=1": "timestamp",
		"character_set_connection=utf16": "character_set_connection", "character_set_results=latin1": "character_set_results", "character_set_results=NULL": "character_set_results",
		"collation_connection=latin1_bin": "collation_connection", "lock_wait_timeout=7,character_set_client=latin1": "lock_wait_timeout",
		"lock_wait_timeout=7,+names+latin1": "lock_wait_timeout", "charset=binary": "charset", "collation=binary": "charset",
		"charset=latin1&character_set_results=utf8mb4": "character_set_results",
	} {
		_, err := pool.Open("app:hunter2@tcp(127.0.0.1:3306)/app?" + param)
		wantSetting(t, err, setting)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %v", err)
		}
	}
	for _, param := range []string{"completion_type='NO_CHAIN'", "completion_type=DEFAULT", "unique_checks=ON", "sql_safe_updates=false", "sql_select_limit=18446744073709551615",
		"collation_connection=utf8mb4_bin", "character_set_connection=utf8mb4", "charset=latin1&character_set_results=latin1", "charset=utf8&character_set_results=utf8mb3",
		"lc_time_names='de_DE'", "sql_mode='ANSI'", "sql_mode=4", "timestamp=DEFAULT", "sql_log_bin=1"} {
		db, err := pool.Open("app@tcp(127.0.0.1:3306)/app?" + param)
		if err != nil {
			t.Errorf("%s: %v", param, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSessionStatements: setting up a connection takes one statement.
func TestSessionStatements(t *testing.T) {
	counted := crashtest.Wrap(floortest.Connector(t, floortest.Bare(t)))
	db := floortest.PoolOf(t, hosts.ReadCommitted(counted), true)
	log, err := crashtest.Count(counted, func() error { return db.PingContext(t.Context()) })
	if err != nil || len(log) != 1 {
		t.Errorf("%v:\n%s", err, log)
	}
	var autocommit, isolation string
	variable := dbtest.Server(t).IsolationVariable()
	log, err = crashtest.Count(counted, func() error {
		return onerow.QueryRow(t.Context(), db, "SELECT @@autocommit, @@"+variable, nil, &autocommit, &isolation)
	})
	if err != nil || len(log) != 1 || autocommit != "1" || isolation != "READ-COMMITTED" {
		t.Errorf("%s %s %v:\n%s", autocommit, isolation, err, log)
	}
}

// TestSessionFallback: where the one statement is not understood, two do the same.
func TestSessionFallback(t *testing.T) {
	const one = `SET SESSION autocommit = 1, SESSION /*!50701 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`
	for _, refused := range []uint16{1064, 1193} {
		isolation := dbtest.Server(t).IsolationVariable()
		r := &floortest.Refusing{Connector: floortest.Connector(t, floortest.Bare(t, "autocommit=0", isolation+"=%27SERIALIZABLE%27")), Verb: one, Number: refused}
		db := floortest.PoolOf(t, hosts.ReadCommitted(r), true)
		if err := pool.Check(t.Context(), db); err != nil {
			t.Error(err)
		}
		var level string
		if err := onerow.QueryRow(t.Context(), db, "SELECT @@"+isolation, nil, &level); err != nil || level != "READ-COMMITTED" {
			t.Errorf("%s %v", level, err)
		}
	}
}
