package pool_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/pool"
)

// TestSetUpStatements: one packet sets up a session, whatever the data source name says, of one statement and
// another that shows that two are taken; a question more where it has several hosts. The first session also finds
// out that there is no Galera if statements may go together, and on MySQL no Group Replication.
func TestSetUpStatements(t *testing.T) {
	group := 0
	if dbtest.Server(t).Engine() == devdb.MySQL {
		group = 1
	}
	isolation := dbtest.Server(t).IsolationVariable()
	plain := floortest.Bare(t)
	list := strings.Replace(plain, ")/", ",127.0.0.1:1)/", 1) // which is never asked
	for _, c := range []struct {
		dsn    string
		each   int
		learns int
	}{
		{plain, 2, 1 + group},
		{plain + "?sql_mode=''&lock_wait_timeout=7", 2, 1 + group},
		{plain + "?lock_wait_timeout=7&" + isolation + "='SERIALIZABLE'", 2, 1 + group},
		{plain + "?multiStatements=false", 2, group},
		{plain + "?multiStatements=true", 2, 1 + group},
		{list, 3, 1 + group},
	} {
		db := floortest.Opened(t, c.dsn)
		db.SetMaxIdleConns(0)
		for i := range 3 {
			want := c.each
			if i == 0 {
				want += c.learns
			}
			if got := questionsOf(t, db); got != want {
				t.Errorf("%s: session %d took %d statements, want %d", c.dsn, i+1, got, want)
			}
		}
	}
}

// questionsOf is what a new session was sent until it was there.
func questionsOf(t *testing.T, db *sql.DB) int {
	t.Helper()
	var name string
	var n int
	if err := onerow.QueryRow(t.Context(), db, "SHOW SESSION STATUS LIKE 'Questions'", nil, &name, &n); err != nil {
		t.Fatal(err)
	}
	return n - 1
}

// TestSetUpKeeps: what the data source name says is set, and wins.
func TestSetUpKeeps(t *testing.T) {
	isolation := dbtest.Server(t).IsolationVariable()
	var mode, level, wait string
	db := floortest.Opened(t, floortest.Bare(t, "sql_mode='ANSI'", "@@session.lock_wait_timeout=7", isolation+"='SERIALIZABLE'"))
	if err := onerow.QueryRow(t.Context(), db, "SELECT @@sql_mode, @@lock_wait_timeout, @@"+isolation, nil, &mode, &wait, &level); err != nil ||
		!strings.Contains(mode, "ANSI_QUOTES") || wait != "7" || level != "SERIALIZABLE" {
		t.Error(mode, wait, level, err)
	}
	if err := floortest.Opened(t, floortest.Bare(t, "nonsense=1")).PingContext(t.Context()); mysqlerr.Number(err) != 1193 {
		t.Error(err)
	}
}

// TestCausalReads: they are on where there is a cluster to wait for, and where the name says nothing else.
func TestCausalReads(t *testing.T) {
	if dbtest.Server(t).Engine() == devdb.MySQL {
		causalGroup(t)
		return
	}
	wantVariable(t, dbtest.DSN(t), "wsrep_sync_wait", "0") // there is nobody to wait for
	wantVariable(t, dbtest.DSN(t)+"&wsrep_sync_wait=3", "wsrep_sync_wait", "3")
}

// causalGroup is TestCausalReads where the plugin is active.
func causalGroup(t *testing.T) {
	const consistency, own = "group_replication_consistency", "&group_replication_consistency='EVENTUAL'"
	dsn := floortest.Private(t, "--plugin-load-add=group_replication.so", "--loose-group-replication-start-on-boot=OFF",
		"--loose-group-replication-single-primary-mode=OFF", "--loose-group-replication-group-name=aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")
	admin := dbtest.OpenDSN(t, dsn)
	admin.SetMaxIdleConns(0)
	for _, c := range []struct{ server, mode, want, refused string }{
		{"EVENTUAL", "OFF", "BEFORE", consistency},
		{"BEFORE_ON_PRIMARY_FAILOVER", "OFF", "BEFORE", consistency},
		{"BEFORE_AND_AFTER", "OFF", "BEFORE_AND_AFTER", ""},
		{"AFTER", "OFF", "AFTER", ""},
		{"EVENTUAL", "ON", "BEFORE_ON_PRIMARY_FAILOVER", consistency},
		{"BEFORE_ON_PRIMARY_FAILOVER", "ON", "BEFORE_ON_PRIMARY_FAILOVER", ""},
		{"BEFORE", "ON", "BEFORE", ""},
	} {
		dbtest.Exec(t, admin, "SET GLOBAL group_replication_consistency = '"+c.server+"'")
		dbtest.Exec(t, admin, "SET GLOBAL group_replication_single_primary_mode = "+c.mode)
		wantVariable(t, dsn, consistency, c.want)
		wantVariable(t, dsn+own, consistency, "EVENTUAL")
		for _, opened := range []*sql.DB{floortest.Opened(t, dsn), floortest.Opened(t, dsn+own)} {
			if err := pool.Check(t.Context(), opened); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if err := pool.Check(t.Context(), admin); c.refused != "" {
			wantSetting(t, err, c.refused)
		} else if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	dbtest.Exec(t, admin, "SET GLOBAL group_replication_consistency = 'EVENTUAL'")
	admin.SetMaxOpenConns(1)
	admin.SetMaxIdleConns(1)
	dbtest.Exec(t, admin, "SET @onerow_routed = 1")
	if err := pool.Check(t.Context(), admin); err != nil {
		t.Error(err)
	}
	if got := questionsOf(t, floortest.Opened(t, dsn+"&multiStatements=false")); got != 2 { // the second asks what the session is called
		t.Errorf("%d statements", got)
	}
}

func wantVariable(t *testing.T, dsn, name, want string) {
	t.Helper()
	var got string
	if err := onerow.QueryRow(t.Context(), floortest.Opened(t, dsn), "SELECT @@"+name, nil, &got); err != nil || got != want {
		t.Errorf("%s: %s is %q, want %q: %v", dsn, name, got, want, err)
	}
}
