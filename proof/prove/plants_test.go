package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// planted is a server, or a database on it, that breaks promises.
type planted struct {
	name string
	// on is the engine that has it. Empty: all.
	on string
	// global are assignments for new sessions, each with what undoes it.
	global [][2]string
	// params are the operator's own.
	params string
	// spoil are statements for the database.
	spoil []string
	// falls must be named, and holds must not.
	falls, holds []string
	// fact, if set, begins what is told of a write from an old snapshot.
	fact string
}

const (
	defaultMode = "sql_mode = DEFAULT"
	myISAM      = "ALTER TABLE %s ENGINE=MyISAM"
)

// eachPush are plants of a server's settings that each push tries. innodb_rollback_on_timeout can not be changed
// while a server runs: all have it. innodb_snapshot_isolation breaks no promise, on or off, and is a fact.
var eachPush = []planted{
	{name: "innodb_rollback_on_timeout", falls: []string{"lock-wait"}, holds: []string{"lock-wait-opened"}},
	{name: "autocommit=0 of the server", global: [][2]string{{"autocommit = 0", "autocommit = 1"}},
		falls: []string{"settings", "autocommit"}, holds: []string{"settings-opened", "autocommit-opened"}},
	{name: "READ UNCOMMITTED", on: devdb.MySQL, global: [][2]string{{"transaction_isolation = 'READ-UNCOMMITTED'", "transaction_isolation = 'REPEATABLE-READ'"}},
		falls: []string{"settings", "dirty-reads"}, holds: []string{"settings-opened", "dirty-reads-opened"}},
	{name: "READ UNCOMMITTED", on: devdb.MariaDB, global: [][2]string{{"tx_isolation = 'READ-UNCOMMITTED'", "tx_isolation = 'REPEATABLE-READ'"}},
		falls: []string{"settings", "dirty-reads"}, holds: []string{"settings-opened", "dirty-reads-opened"}},
	{name: "snapshot isolation", on: devdb.MariaDB, global: [][2]string{{"innodb_snapshot_isolation = ON", "innodb_snapshot_isolation = DEFAULT"}},
		holds: []string{"updates-count"}, fact: "is refused"},
	{name: "no snapshot isolation", on: devdb.MariaDB, global: [][2]string{{"innodb_snapshot_isolation = OFF", "innodb_snapshot_isolation = DEFAULT"}},
		holds: []string{"updates-count"}, fact: "is let through"},
	{name: "no snapshot isolation", on: devdb.MySQL, holds: []string{"updates-count"}, fact: "is let through"}, // it has none
}

// ownServer are more of them.
var ownServer = []planted{
	{name: "no deadlock detection", global: [][2]string{{"innodb_deadlock_detect = OFF", "innodb_deadlock_detect = ON"}}, falls: []string{"deadlock"}},
	{name: "binlog_format STATEMENT", global: [][2]string{{"binlog_format = 'STATEMENT'", "binlog_format = 'ROW'"}}, falls: []string{"settings-opened"}},
	{name: "another engine", on: devdb.MariaDB, global: [][2]string{{"sql_mode = 'STRICT_TRANS_TABLES'", defaultMode}, {"enforce_storage_engine = 'Aria'", "enforce_storage_engine = NULL"}},
		falls: []string{"settings", "settings-opened", "rollback", "dirty-reads"}},
}

// anyServer are plants of a session or a database.
var anyServer = []planted{
	{name: "autocommit=0 of the session", params: "?autocommit=0", falls: []string{"settings", "autocommit"}},
	{name: "READ UNCOMMITTED of the session", on: devdb.MySQL, params: "?transaction_isolation='READ-UNCOMMITTED'", falls: []string{"settings", "dirty-reads"}},
	{name: "READ UNCOMMITTED of the session", on: devdb.MariaDB, params: "?tx_isolation='READ-UNCOMMITTED'", falls: []string{"settings", "dirty-reads"}},
	{name: "a clock that stands still", params: "?timestamp=1700000000", falls: []string{"settings", "clock"}},
	{name: "keys, columns and triggers", spoil: []string{
		"ALTER TABLE prove_pick DROP INDEX one_name",
		"ALTER TABLE onerow_key MODIFY idem_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL",
		"CREATE TRIGGER a BEFORE UPDATE ON prove_job FOR EACH ROW SET NEW.state = OLD.state",
		"CREATE TRIGGER b BEFORE UPDATE ON prove_newer FOR EACH ROW SET NEW.changed_at = OLD.changed_at",
		"CREATE TRIGGER c BEFORE UPDATE ON project FOR EACH ROW SET NEW.version = OLD.version",
		"CREATE TRIGGER d BEFORE UPDATE ON onerow_key FOR EACH ROW SET NEW.token = OLD.token",
		"CREATE TRIGGER e BEFORE INSERT ON prove_time FOR EACH ROW SET NEW.stamp = NEW.stamp + INTERVAL 1 HOUR",
	}, falls: []string{"unique-index", "key-bytes", "conditional-update", "newer-only", "updates-count", "stale-token", "times"}},
	{name: "no unique keys", spoil: []string{
		"ALTER TABLE project DROP INDEX one_name",
		"ALTER TABLE onerow_request DROP PRIMARY KEY",
		"ALTER TABLE onerow_key DROP PRIMARY KEY",
	}, falls: []string{"one-name", "one-request", "crash-create", "crash-key"}},
	{name: "no key of requests", spoil: []string{"ALTER TABLE onerow_request DROP PRIMARY KEY"}, falls: []string{"race-create"}},
	{name: "no key of keys", spoil: []string{"ALTER TABLE onerow_key DROP PRIMARY KEY"}, falls: []string{"race-key"}},
	{name: "no transactions", spoil: []string{fmt.Sprintf(myISAM, "prove_log"), fmt.Sprintf(myISAM, "prove_account")},
		falls: []string{"rollback", "dirty-reads", "dirty-reads-opened", "lock-wait", "lock-wait-opened", "lost-answer"}},
	{name: "a log without transactions", spoil: []string{fmt.Sprintf(myISAM, "prove_log")}, falls: []string{"deadlock", "deadlock-opened", "lock-wait-opened"}},
	{name: "what was written is not seen", spoil: []string{
		"RENAME TABLE prove_log TO log_below, prove_note TO note_below",
		"CREATE VIEW prove_log AS SELECT what FROM log_below WHERE what NOT IN ('plain', 'opened')",
		"CREATE VIEW prove_note AS SELECT id, text FROM note_below WHERE id < 0",
	}, falls: []string{"autocommit", "autocommit-opened", "second-session"}},
	{name: "counts without transactions", spoil: []string{fmt.Sprintf(myISAM, "onerow_job_count")}, falls: []string{"crash-cascade"}},
}

// elsewhere are the checks that TestNode and the lagging replica of TestPlantedServer see fall.
var elsewhere = []string{"node-reads", "node-reads-opened", "node-names", "node-clock", "replica-reads"}

// TestEachFalls: no check that was never seen to fail.
func TestEachFalls(t *testing.T) {
	seen := slices.Clone(elsewhere)
	for _, p := range slices.Concat(eachPush, ownServer, anyServer) {
		seen = append(seen, p.falls...)
	}
	for _, c := range checks() {
		if !slices.Contains(seen, c.name) {
			t.Errorf("nothing is planted for %s", c.name)
		}
	}
}

// try runs the checks that the plant is about.
func (p planted) try(t *testing.T, server *devdb.Server) {
	t.Helper()
	if p.on != "" && p.on != server.Engine() {
		return
	}
	t.Run(p.name, func(t *testing.T) {
		db := admin(t, server)
		for _, g := range p.global {
			dbtest.Exec(t, db, "SET GLOBAL "+g[0])
		}
		defer func() {
			for _, g := range p.global {
				dbtest.Exec(t, db, "SET GLOBAL "+g[1])
			}
		}()
		o := options{dsn: plainDSN(server) + p.params, only: strings.Join(append(slices.Clone(p.falls), p.holds...), ","), spoil: p.spoil}
		code, rep, _ := prove(t, o)
		want := exitFalls
		if len(p.falls) == 0 {
			want = exitHolds
		}
		if code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
		if p.fact != "" && (len(rep.Facts) != 1 || !strings.HasPrefix(rep.Facts[0].Is, p.fact)) {
			t.Errorf("%+v, want that a write from an old snapshot %s", rep.Facts, p.fact)
		}
		for _, name := range p.falls {
			if r := rep.of(name); r.Verdict != falls || r.Seen == "" || r.Fix == "" {
				t.Errorf("%s is not named: %+v", name, r)
			}
		}
		for _, name := range p.holds {
			if r := rep.of(name); r.Verdict != holds {
				t.Errorf("%s: %+v", name, r)
			}
		}
	})
}

// TestPlantedServer: each server that breaks a promise is named by its setting's check, and one whose replica
// lags by that of reads.
func TestPlantedServer(t *testing.T) {
	server := plantedServer(t)
	for _, p := range eachPush {
		p.try(t, server)
	}
	t.Run("no causal reads", func(t *testing.T) { lagging(t, server) })
}

// plantedServer has what can not be planted while a server runs, and a log that a replica can follow.
func plantedServer(t *testing.T) *devdb.Server {
	return private(t, "--innodb-rollback-on-timeout=ON", "--log-bin=bin", "--server-id=1", "--binlog-format=ROW")
}

func private(t *testing.T, args ...string) *devdb.Server {
	t.Helper()
	server, err := devdb.Start(t.Context(), devdb.Options{Private: true, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// lagging: a replica that applies a second late is named, though it still has the rows of the check before.
func lagging(t *testing.T, first *devdb.Server) {
	second := private(t, "--log-bin=bin", "--binlog-format=ROW", "--server-id=2", "--relay-log=relay")
	host, port, _ := strings.Cut(first.Config("").Addr, ":")
	follow := `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'replica', SOURCE_DELAY = 1, GET_SOURCE_PUBLIC_KEY = 1`
	if first.Engine() == devdb.MariaDB {
		follow = `CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = 'replica', MASTER_PASSWORD = 'replica', MASTER_DELAY = 1`
	}
	at := admin(t, first)
	defer func() { // MySQL's server would wait for the session that feeds the replica
		for _, id := range dbtest.SessionsOf(t, at, "replica") {
			dbtest.Exec(t, at, fmt.Sprintf("KILL %d", id))
		}
	}()
	dbtest.Exec(t, at, `CREATE USER replica@'%' IDENTIFIED BY 'replica'`)
	dbtest.Exec(t, at, `GRANT REPLICATION SLAVE ON *.* TO replica@'%'`)
	dbtest.Exec(t, at, `CREATE USER replica@localhost IDENTIFIED BY 'replica'`)
	dbtest.Exec(t, at, `GRANT REPLICATION SLAVE ON *.* TO replica@localhost`)
	var file string
	var position int
	status := `SHOW MASTER STATUS`
	if first.Engine() == devdb.MySQL {
		status = `SHOW BINARY LOG STATUS`
	}
	var rest [3]sql.NullString
	into := []any{&file, &position, &rest[0], &rest[1]}
	if first.Engine() == devdb.MySQL {
		into = append(into, &rest[2])
	}
	if err := at.QueryRowContext(t.Context(), status).Scan(into...); err != nil {
		t.Fatal(err)
	}
	to := admin(t, second)
	from := fmt.Sprintf(", %[1]s_LOG_FILE = '%[2]s', %[1]s_LOG_POS = %[3]d", map[string]string{devdb.MySQL: "SOURCE", devdb.MariaDB: "MASTER"}[first.Engine()], file, position)
	dbtest.Exec(t, to, fmt.Sprintf(follow, host, port)+from)
	dbtest.Exec(t, to, `START REPLICA`)
	defer dbtest.Exec(t, to, `STOP REPLICA`) // neither server ends as long as one waits for the other
	code, rep, _ := prove(t, options{dsn: plainDSN(first), replica: plainDSN(second), only: "replica-reads,second-session"})
	if r := rep.of("replica-reads"); code != exitFalls || r.Verdict != falls || !strings.Contains(r.Seen, "were not there") {
		t.Errorf("exit code %d, %+v", code, r)
	}
	if r := rep.of("second-session"); r.Verdict != holds {
		t.Errorf("%+v", r)
	}
}
