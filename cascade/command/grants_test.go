package command

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/fileassets"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/security"
	"github.com/onerow/onerow/migrations"
)

const grantsDocument = "../../docs/OPERATIONS.md"

// grantsPlan has a table of each kind that a job treats in its own way: with an archive, an
// owner and a quota, plain, detached, and one whose trigger refuses some rows.
const grantsPlan = testPlan + `
tables:
  - name: visit
    key: [id]
    retention: {column: seen_at, keep: 90d}
    parents: [{table: project, columns: [project_id], on_delete: detach}]
  - name: note
    key: [id]
    triggers: [keep_note]
    parents: [{table: project, columns: [project_id]}]
`

var grantsDDL = []string{
	"CREATE TABLE visit (id INT PRIMARY KEY, project_id BIGINT NULL, seen_at DATETIME NULL, KEY (project_id), KEY (seen_at)) ENGINE=InnoDB",
	"CREATE TABLE note (id INT PRIMARY KEY, project_id BIGINT NOT NULL, KEY (project_id)) ENGINE=InnoDB",
	"CREATE TRIGGER keep_note BEFORE DELETE ON note FOR EACH ROW BEGIN IF OLD.id >= 1000 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stays'; END IF; END",
}

// least is a world with a user that has what the document says.
type least struct {
	*world
	user     *security.User
	asUser   *world // the same, as the user
	onerow   []string
	photos   string // a folder
	document security.Table
}

func grantsWorld(t *testing.T) *least {
	t.Helper()
	w := empty(t)
	w.write(w.plan, grantsPlan)
	l := &least{world: w, user: security.NewUser(t, w.db, w.cfg), photos: t.TempDir()}
	as := *w
	as.cfg = l.user.Config()
	as.env = []string{shell.EnvDSN + "=" + as.cfg.FormatDSN(), shell.EnvPlan + "=" + w.plan, shell.EnvAssets + "=file://" + l.photos}
	l.asUser = &as
	var err error
	if l.document, err = security.Read(grantsDocument); err != nil {
		t.Fatal(err)
	}
	return l
}

// grantsReady has all tables, too.
func grantsReady(t *testing.T) *least {
	t.Helper()
	l := grantsWorld(t)
	if err := l.try(l.world, "migrate", "up"); err != nil {
		t.Fatal(err)
	}
	l.createTables()
	l.exec("ALTER TABLE onerow_job AUTO_INCREMENT = 900100") // behind the ids that anew gives
	for _, statement := range grantsDDL {
		l.exec(statement)
	}
	rows, err := l.db.QueryContext(t.Context(), `SELECT table_name FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name LIKE 'onerow\_%' AND table_name <> 'onerow_goose_version'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		l.onerow = append(l.onerow, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return l
}

// try runs a command in this process; what it did not like is the error.
func (l *least) try(as *world, args ...string) error {
	l.t.Helper()
	out, err := l.output(as, args...)
	if err != nil {
		return fmt.Errorf("%q: %w: %s", args, err, out)
	}
	return nil
}

func (l *least) output(as *world, args ...string) (string, error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	code := execute(ctx, shell.Environment{OpenAssets: fileassets.Open, Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string {
		for _, variable := range as.env {
			if value, found := strings.CutPrefix(variable, name+"="); found {
				return value
			}
		}
		return ""
	}})
	if code != shell.ExitOK {
		return out.String(), fmt.Errorf("exit code %d", code)
	}
	return out.String(), nil
}

// each runs commands as the user, one after the other, up to the first that fails.
func (l *least) each(lines ...string) error {
	l.t.Helper()
	for _, line := range lines {
		if err := l.try(l.asUser, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// anew makes the tables as they are before each try: project 1 with rows of all kinds
// below it, 2 hidden by a deletion, 3 gone with a screen left, and jobs in each state.
func (l *least) anew() {
	l.t.Helper()
	for _, table := range append(slices.Clone(l.onerow), "project", "project_archive", "screen", "screen_archive", "comment", "visit") {
		l.exec("DELETE FROM " + table)
	}
	l.exec("UPDATE note SET id = id - 1000 WHERE id >= 1000")
	l.exec("DELETE FROM note")
	l.fill(1, 2, 1)
	l.exec("INSERT INTO visit (id, project_id) VALUES (1, 1), (2, 1)")
	l.exec("INSERT INTO note VALUES (1, 1), (2, 1)")
	l.exec("INSERT INTO screen (id, project_id, filename, base, stem_key, created_at, updated_at) VALUES (31, 3, 's', 's', 's', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	l.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (2, 1, 'P1', 'p1', 'p1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 900, 'active')`)
	l.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (4, 1, 'four', 'four', 'four', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 904, 'archive')`)
	l.exec(`INSERT INTO screen_archive (id, project_id, filename, base, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (5, 1, 'five', 'five', 'five', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 905, 'active'),
 (6, 1, 'six', 'six', 'six', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 906, 'archive')`)
	l.exec(`INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES
(900, 'project', '2', 'active', 1, UTC_TIMESTAMP(6)), (904, 'project', '4', 'archive', 1, UTC_TIMESTAMP(6)), (905, 'screen', '5', 'active', 1, UTC_TIMESTAMP(6)), (906, 'screen', '6', 'archive', 1, UTC_TIMESTAMP(6))`)
	l.exec(`INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (20, 'project', '2', 900, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6)),
  (21, 'project', '4', 904, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6)),
  (22, 'screen', '5', 905, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6)),
  (23, 'screen', '6', 906, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6))`)
	for id, state := range map[int]string{900071: "dead", 900072: "leftovers", 900073: "leftovers"} {
		l.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (?, 'project', ?, 1, ?, UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, fmt.Sprint(id), state)
		l.exec("INSERT INTO onerow_job_plan VALUES (?, 'x', UTC_TIMESTAMP(6))", id)
		l.exec("INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (?, ?, 'comment', '1', 'e', 'parked', UTC_TIMESTAMP(6))", id, id)
	}
	for id, state := range map[string]string{"runs": "in_progress", "failed": "error", "done": "complete", "old": "complete"} {
		l.exec(`INSERT INTO onerow_key (tenant, operation, idem_key, status, attention, token, call_token, locked_by, created_at, locked_at, expires_at, codec, result)
VALUES ('t', 'op', ?, ?, ? = 'error', 5, REPEAT('c', 16), 'web', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), IF(? = 'old', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, NULL), 'json/1', '1')`, id, state, state, id)
	}
	l.exec("INSERT INTO onerow_admission VALUES ('t', 'op', 'a', REPEAT('c', 16), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)")
	l.exec("INSERT INTO onerow_serial VALUES ('s', 1, 3)")
	l.exec("INSERT INTO onerow_serial_claim (series, claim_key, amount, from_no, to_no, call_token, claimed_at) VALUES ('s', 'k', 2, 1, 2, REPEAT('c', 16), UTC_TIMESTAMP(6))")
	l.exec("INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (20, 20, 'comment', '1', 'e', 'parked', UTC_TIMESTAMP(6))")
	if err := os.WriteFile(filepath.Join(l.photos, "lost"), []byte("bytes"), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// enqueueAll is enqueue in its forms.
func enqueueAll(l *least) error {
	return l.each("enqueue project 1", "enqueue project 1", "enqueue project 2", "enqueue comment 7 --grace 1h", "enqueue visit 1",
		"enqueue project --where t.id>0", "enqueue comment --where t.id>0 --dry-run")
}

// deeds are what is done for each row of the document, as the user.
var deeds = map[string]func(l *least) error{
	"jobs": func(l *least) error {
		return l.each("jobs", "jobs --state dead", "jobs --state open", "jobs --state done --json")
	},
	"workers":       func(l *least) error { return l.each("workers", "workers --json") },
	"parked list":   func(l *least) error { return l.each("parked list", "parked list --job 900071 --skipped") },
	"pause --check": func(l *least) error { return l.each("pause --check") },
	"retry":         func(l *least) error { return l.each("retry 900071", "retry 900072") },
	"parked retry":  func(l *least) error { return l.each("parked retry 900071 900072 20") },
	"parked skip":   func(l *least) error { return l.each("parked skip 900071 900072 20") },
	"pause": func(l *least) error {
		return l.each("pause why", "pause why not", "resume", "resume")
	},
	"pause --job": func(l *least) error { return l.each("pause --job 20 why", "resume --job 20", "resume --job 20") },
	"first": func(l *least) error {
		l.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL id SECOND")
		return l.each("first 20")
	},
	"set": func(l *least) error {
		return l.each("pause --resource project why", "pause --resource project not", "resume --resource project", "set --load 30 --target 20ms", "set --parallel 2 --worker w", "set", "set --default --worker w")
	},
	"enqueue": enqueueAll,
	"enqueue --query": func(l *least) error {
		if err := enqueueAll(l); err != nil {
			return err
		}
		return l.try(l.asUser, "enqueue", "project", "--query", "SELECT project_id FROM note")
	},
	"undo": func(l *least) error {
		l.exec("DELETE FROM onerow_quota_mark")
		l.exec("UPDATE onerow_job SET state = 'held', due_at = due_at + INTERVAL 365000 DAY, token = 1 WHERE id = 20")
		l.exec("INSERT INTO onerow_job_count VALUES (20, 'screen', 1)")
		if err := l.try(l.world, "enqueue", "project", "1", "--grace", "1h"); err != nil {
			return err
		}
		if err := l.try(l.world, "enqueue", "visit", "1", "--grace", "1h"); err != nil {
			return err
		}
		last := l.number("SELECT MAX(id) FROM onerow_deletion")
		return l.each("undo 900", "undo 904", "undo 905", "undo 906", fmt.Sprint("undo ", last-1), fmt.Sprint("undo ", last), "undo 900")
	},
	"retention list": func(l *least) error {
		l.exec("UPDATE visit SET seen_at = '2000-01-01'")
		return l.each("retention list", "retention run --dry-run")
	},
	"retention run": func(l *least) error {
		l.exec("UPDATE visit SET seen_at = '2000-01-01'")
		return l.each("retention run", "retention run visit")
	},
	"cancel": func(l *least) error {
		l.exec("UPDATE onerow_job SET state = 'running', token = 1, worker = 'w' WHERE id = 20")
		l.exec("INSERT INTO onerow_job_count VALUES (20, 'screen', 1)")
		l.exec("INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (21, 21, 'comment', '1', 'e', 'parked', UTC_TIMESTAMP(6))")
		l.exec("INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (907, 'visit', '1', 'active', 1, UTC_TIMESTAMP(6))")
		l.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (900080, 'visit', '1', 907, 'dead', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		return l.each("cancel 20", "cancel 20", "cancel 21", "cancel 22", "cancel 23", "cancel 900080")
	},
	"adopt --backfill": func(l *least) error {
		l.exec("UPDATE project SET name = 'Another' WHERE id = 1")
		return l.each("adopt project --backfill", "adopt project")
	},
	"plan":              func(l *least) error { return l.each("plan project 1", "plan project 3", "plan visit 1", "plan --sql") },
	"orphans":           func(l *least) error { return l.each("orphans", "orphans --table screen") },
	"orphans --enqueue": func(l *least) error { return l.each("orphans --enqueue") },
	"report":            func(l *least) error { return l.each("report --recent 3", "report 900071") },
	"serials list":      func(l *least) error { return l.each("serials list", "serials gaps s") },
	"keys list":         func(l *least) error { return l.each("keys list", "keys list --failed --json") },
	"keys show":         func(l *least) error { return l.each("keys show t op runs") },
	"keys release": func(l *least) error {
		return l.each("keys release t op runs --token 5 --by a --reason b", "keys complete t op failed --status error --token 5 --by a --reason b --result 1",
			"keys expire t op done --token 5 --by a --reason b")
	},
	"purge": func(l *least) error {
		l.age()
		return l.each("purge --keep-flows 720h --keep-messages 720h", "purge --dry-run")
	},
	"migrate status": func(l *least) error { return l.each("migrate status") },
}

// age makes something old of each kind that is purged.
func (l *least) age() {
	l.t.Helper()
	const old = "UTC_TIMESTAMP(6) - INTERVAL 500 DAY"
	l.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (900074, 'project', '900074', 1, 'done', ` + old + `, 1, 1, 0, ` + old + `, ` + old + `)`)
	l.exec("INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (900074, 'comment', '1', 'e', 'skipped', " + old + ")")
	l.exec("INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (1, 'project', '1', 'active', 0, " + old + ")")
	l.exec("INSERT INTO onerow_request (resource, owner, request_id, fingerprint, call_token, created_at) VALUES ('project', '1', 'r', '', '', " + old + ")")
	l.exec("INSERT INTO onerow_action (action, actor, reason, acted_at) VALUES ('pause', 'ann', '', " + old + ")")
	l.exec("INSERT INTO onerow_key_audit VALUES ('t', 'op', 'k', 1, 'expire', 'complete', 'ann', 'why', " + old + ")")
	l.exec("INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at) VALUES ('f', 's', 'r', 'finished', " + old + ", " + old + ")")
	l.exec("INSERT INTO onerow_stream_message VALUES ('c', 's', 1, 1, 1, '', " + old + ")")
}

// meaning of the document's phrases, for a row.
func (l *least) words(name string) security.Words {
	words := security.Words{
		"a job's tables":         security.On("onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_detached", "onerow_job_plan", "onerow_parked"),
		"the plan":               security.On("project", "project_archive", "screen", "screen_archive", "comment", "note", "visit"),
		"the row's table":        security.On("project", "comment", "visit"),
		"its archive":            security.On("project_archive"),
		"what the query reads":   security.On("note"),
		"the tables with assets": security.On("photo"),
	}
	if name == "adopt --backfill" {
		words["the row's table"] = security.On("project")
	}
	if name == "undo" || name == "cancel" {
		words["the row's table"], words["its archive"] = security.On("project", "screen"), security.On("project_archive", "screen_archive")
		words["the row's table under `tables:`"] = security.On("visit")
	}
	return words
}

// TestGrantsOfCommands: with what the document says each command works, and with one right less
// it says which one it was refused.
func TestGrantsOfCommands(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(deeds)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := grantsReady(t)
			rights, err := l.document.Rights(name, l.words(name))
			if err != nil {
				t.Fatal(err)
			}
			l.user.Least(rights, func() error {
				l.anew()
				return deeds[name](l)
			})
		})
	}
}

// TestGrantsOfMigrate: the rights are the database's.
func TestGrantsOfMigrate(t *testing.T) {
	for name, before := range map[string]string{"migrate up": "migrate down --yes", "migrate down": "migrate up"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := grantsWorld(t)
			rights, err := l.document.Rights(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.user.Least(rights, func() error {
				if err := l.try(l.world, strings.Fields(before)...); err != nil {
					return err
				}
				if name == "migrate down" {
					return l.each("migrate down --yes")
				}
				return l.each("migrate up", "migrate up")
			})
		})
	}
}

// TestMigrateSaysWhatItLacks: the file, the table, and which rights to grant.
func TestMigrateSaysWhatItLacks(t *testing.T) {
	l := grantsWorld(t)
	lacks := func(line string, words ...string) {
		t.Helper()
		out, err := l.output(l.asUser, strings.Fields(line)...)
		for _, word := range words {
			if err == nil || !strings.Contains(out, word) || !isOneLine(out) {
				t.Errorf("%s does not say %q: %s", line, word, out)
			}
		}
	}
	l.user.Grant(security.Right{Verb: "SELECT"}, security.Right{Verb: "INSERT"}, security.Right{Verb: "CREATE", Table: migrations.TableName})
	lacks("migrate up", "up: 00001_onerow.sql: ", "onerow_request", "; it needs SELECT, INSERT and CREATE on the database")
	l.user.Grant(security.Right{Verb: "CREATE"})
	if err := l.each("migrate up"); err != nil {
		t.Error(err)
	}
	lacks("migrate down --yes", "down: 00001_onerow.sql: ", "it needs SELECT, DELETE and DROP on the database")
}

// TestGrantsOfDiscover: they work with less as well, and say what they do not see.
func TestGrantsOfDiscover(t *testing.T) {
	l := grantsReady(t)
	rights, err := l.document.Rights("discover", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.user.Grant(rights...)
	if err := l.each("discover --root project"); err != nil {
		t.Error(err)
	}
	for _, command := range []string{"verify", "doctor"} {
		out, err := l.output(l.asUser, command) // it lacks the worker's rights, and that is all
		if err == nil || !strings.Contains(out, "GRANT ") || strings.Contains(out, "not seen: ") || strings.Contains(out, "keep_note") || strings.Contains(out, "denied") {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	if err := l.each("ddl", "plan --yaml", "verify --erasure project"); err != nil {
		t.Error(err)
	}
	l.asUser.env = l.asUser.env[1:]
	if err := l.each("ddl", "plan --yaml"); err != nil { // without a database
		t.Error(err)
	}
}

// TestGrantsOfTheWorker: what verify --grants prints is enough for run, drain and the page's
// buttons; verify names each right that is taken away, and drain begins nothing without it.
func TestGrantsOfTheWorker(t *testing.T) {
	l := grantsReady(t)
	printed, err := l.output(l.world, "verify", "--grants", l.asUser.cfg.User+"@%")
	if err != nil {
		t.Fatal(err)
	}
	rights := granted(t, printed)
	words := security.Words{"what `verify --grants` prints": rights}
	if found, err := l.document.Rights("drain", words); err != nil || !slices.Equal(found, rights) {
		t.Fatalf("%v, %v", found, err)
	}
	// Seen by the worker on MySQL, which checks that the plan's triggers are there.
	l.user.Grant(security.Right{Verb: "TRIGGER", Table: "note"})
	l.user.Least(rights, func() error { return l.each("verify") })
	if err := l.drains(); err != nil {
		t.Error(err)
	}
	for _, r := range rights {
		l.user.Revoke(r)
		if err := l.each("drain"); err == nil || !strings.Contains(err.Error(), "verify") {
			t.Errorf("without %s: %v", r, err)
		}
		l.user.Grant(r)
	}
}

// TestGrantsOfPurge: what verify --grants --purge prints is enough for the worker's purge, and for the
// command.
func TestGrantsOfPurge(t *testing.T) {
	l := grantsReady(t)
	printed, err := l.output(l.world, "verify", "--grants", l.asUser.cfg.User+"@%", "--purge")
	if err != nil {
		t.Fatal(err)
	}
	l.user.Grant(granted(t, printed)...)
	l.anew()
	l.age()
	if err := l.each("purge --keep-flows 720h --keep-messages 720h"); err != nil {
		t.Error(err)
	}
	if n := l.number("SELECT COUNT(*) FROM onerow_deletion WHERE id = 1") + l.number("SELECT COUNT(*) FROM onerow_stream_message"); n != 0 {
		t.Errorf("%d old rows are left", n)
	}
}

// drains works a job of each kind as the user; what is in the way is in the error.
func (l *least) drains() error {
	l.t.Helper()
	l.anew()
	l.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	l.exec("UPDATE note SET id = 1001 WHERE id = 1")
	if err := l.try(l.world, "enqueue", "project", "1"); err != nil {
		return err
	}
	err := l.each("drain")
	problems, jobsErr := l.output(l.world, "jobs")
	if jobsErr != nil {
		return jobsErr
	}
	if strings.Contains(problems, "leftovers, 1 parked  project 1 ") && l.number("SELECT COUNT(*) FROM onerow_job") == 0 &&
		l.number("SELECT COUNT(*) FROM visit WHERE project_id IS NULL") == 2 {
		return nil // the trigger has kept its row, and what is above it; all else is done
	}
	return fmt.Errorf("%w: %s", err, problems)
}

// granted reads GRANT statements.
func granted(t *testing.T, statements string) []security.Right {
	t.Helper()
	var rights []security.Right
	for _, line := range strings.Split(strings.TrimSpace(statements), "\n") {
		verbs, rest, _ := strings.Cut(strings.TrimPrefix(line, "GRANT "), " ON ")
		_, rest, _ = strings.Cut(rest, "`.`")
		name, _, found := strings.Cut(rest, "` TO ")
		if !found {
			t.Fatalf("no GRANT: %q", line)
		}
		for _, verb := range strings.Split(verbs, ", ") {
			rights = append(rights, security.Right{Verb: verb, Table: name})
		}
	}
	return rights
}

// TestGrantsOfButtons: what the page does, it does with the worker's rights; for Undo it
// needs those of undo.
func TestGrantsOfButtons(t *testing.T) {
	l := grantsReady(t)
	printed, err := l.output(l.world, "verify", "--grants", l.asUser.cfg.User+"@%")
	if err != nil {
		t.Fatal(err)
	}
	words := l.words("undo")
	words["what `verify --grants` prints"] = granted(t, printed)
	as := *l.world
	as.db = dbtest.OpenDSN(t, l.user.Config().FormatDSN())
	s := as.serve("", true)
	press := func(path, says string) {
		t.Helper()
		form := url.Values{}
		switch path {
		case "/pause":
			form.Set("reason", "why")
		case "/enqueue":
			form.Set("resource", "screen")
			form.Set("key", "77")
		case "/settings":
			form.Set("load", "50")
		}
		s.message(s.do(http.MethodPost, path, form), says)
	}
	l.anew()
	press("/pause", "denied")
	l.user.Grant(words["what `verify --grants` prints"]...)
	for path, says := range map[string]string{"/pause": "Paused", "/jobs/900071/retry": "is tried again", "/parked/900072/skip": "is skipped",
		"/parked/900073/retry": "is tried again"} {
		press(path, says)
	}
	press("/resume", "Resumed")
	press("/jobs/20/undo", "denied")
	rights, err := l.document.Rights("run --http", words)
	if err != nil {
		t.Fatal(err)
	}
	l.user.Grant(rights...)
	press("/jobs/20/undo", "is taken back")
	press("/jobs/22/undo", "is taken back")
	s.says(s.get("/jobs/20"), http.StatusOK, "cancelled")
	s.says(s.get("/search?q=20"), http.StatusOK, "job 20")
	press("/enqueue", "is queued")
	press("/settings", "Set for all workers")
}

// TestGrantsAreOfAll: each command of the program is in the document, and nothing else.
func TestGrantsAreOfAll(t *testing.T) {
	document, err := security.Read(grantsDocument)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commandLine{}, kong.Name(output.ProgramName))
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(true) {
		commands[strings.TrimPrefix(leaf.FullPath(), output.ProgramName+" ")] = false
	}
	for _, row := range document {
		for _, name := range row.Names {
			if name == "repo" || strings.HasPrefix(name, "repo.") || slices.Contains([]string{"limit", "quota", "flow", "serial"}, strings.Split(name, ".")[0]) ||
				strings.HasPrefix(name, "idempotency") || strings.HasPrefix(name, "ordering") {
				continue // a package
			}
			command, _, _ := strings.Cut(name, " --")
			if _, found := commands[command]; !found {
				t.Errorf("the document has a row of %q, which is no command", name)
			}
			commands[command] = true
		}
	}
	for command, found := range commands {
		if !found {
			t.Errorf("the document has no row of the command %q", command)
		}
	}
}

// TestGrantsOfRestore: who may not restore is told before the job is held, by the command and on the page, and
// what verify --grants --restore prints is enough, for each way in which a row comes back.
func TestGrantsOfRestore(t *testing.T) {
	l := grantsReady(t)
	l.write(l.plan, "trash: 30d\n"+grantsPlan)
	for _, statement := range strings.Split(strings.TrimPrefix(l.ok("ddl", "--trash"), tables.GooseUp), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			l.exec(statement)
		}
	}
	l.fill(1, 4, 3)
	l.exec("INSERT INTO visit VALUES (1, 1, NULL)")
	l.exec("INSERT INTO note VALUES (1, 1)")
	all := func() int64 {
		return l.rows() + l.number("SELECT (SELECT COUNT(*) FROM visit WHERE project_id = 1) + (SELECT COUNT(*) FROM note)")
	}
	before := all()
	l.ok("enqueue", "project", "1")
	l.ok("drain")
	if n := all(); n != 0 {
		t.Fatalf("%d rows are left: %s", n, l.ok("jobs"))
	}
	job := fmt.Sprint(l.number("SELECT MAX(id) FROM onerow_job_archive"))
	grant := func(more ...string) {
		t.Helper()
		for _, line := range strings.Split(strings.TrimSpace(l.ok(append([]string{"verify", "--grants", l.asUser.cfg.User + "@%"}, more...)...)), "\n") {
			l.exec(strings.TrimSuffix(line, ";"))
		}
	}
	grant()
	as := *l.world
	as.db = dbtest.OpenDSN(t, l.user.Config().FormatDSN())
	s := as.serve("", true)
	const says = "may not restore by this plan, so nothing was changed: no INSERT"
	s.message(s.post("/jobs/"+job+"/restore"), says)
	if out, err := l.output(l.asUser, "restore", job); err == nil || !strings.Contains(out, says) || !isOneLine(out) || !strings.Contains(out, "--restore prints") {
		t.Errorf("%v: %s", err, out)
	}
	if n := l.number("SELECT COUNT(*) FROM onerow_job"); n != 0 || all() != 0 {
		t.Errorf("%d jobs are held, %d rows came back", n, all())
	}
	l.want(2, "--restore needs --grants", "verify", "--restore")
	grant("--restore")
	if out, err := l.output(l.asUser, "restore", job); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if n := all(); n != before {
		t.Errorf("%d of %d rows are back", n, before)
	}
}
