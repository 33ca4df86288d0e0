package command

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestThePasswordIsNeverPrinted drives every command into every failure that a DSN can
// meet, and looks for the password in all that was printed.
func TestThePasswordIsNeverPrinted(t *testing.T) {
	t.Parallel()
	w := ready(t)
	secret := "hunter2-" + nonce(t)
	forms := append([]string{}, hostileDSNs...)
	for _, form := range []string{
		"mysql://root:SECRET@127.0.0.1:1/db", "root:SECRET@tcp(127.0.0.1:1)/db", "root:SECRET@unix(/no/such/SOCK)/db",
		"root:SECRET@tcp(no-such-host.invalid)/db",
		"nobody:SECRET@tcp(ADDR)/db", "nobody:SECRET@tcp(ADDR)/db?no_such_variable=1",
		"nobody:SECRET@tcp(ADDR)/db?tls=true", "nobody:SECRET@tcp(ADDR)/db?tls=skip-verify",
		"nobody:SECRET@tcp(ADDR)/db?allowCleartextPasswords=true", "nobody:SECRET@tcp(ADDR)/db?allowNativePasswords=false",
	} {
		forms = append(forms, strings.ReplaceAll(form, "ADDR", w.cfg.Addr))
	}
	commands := []string{"run", "drain", "migrate status", "migrate up", "enqueue project 1", "jobs", "retry 1", "verify"}
	for i, form := range forms {
		dsn := strings.ReplaceAll(form, "SECRET", secret)
		if strings.Contains(dsn, "\x00") {
			continue // no process can be given that
		}
		command := strings.Fields(commands[i%len(commands)])
		ways := []func() outcome{
			func() outcome {
				return (&world{t: t, env: []string{shell.EnvPlan + "=" + w.plan, shell.EnvDSN + "=" + dsn}}).run(command...)
			},
			func() outcome {
				return (&world{t: t, env: []string{shell.EnvPlan + "=" + dsn, shell.EnvAssets + "=" + dsn}}).run("run", dsn, "--dns", dsn)
			},
			func() outcome { return (&world{t: t, env: []string{shell.EnvPlan + "=" + dsn}}).run("verify") },
		}
		// Each on the command line, and in one of the other places.
		for _, o := range []outcome{
			(&world{t: t, env: []string{shell.EnvPlan + "=" + w.plan}}).run(append(command, "--dsn="+dsn)...),
			ways[i%len(ways)](),
		} {
			if o.code == 0 || !isOneLine(o.stderr) {
				t.Errorf("%q: %s", dsn, o)
			}
			if strings.Contains(o.stdout+o.stderr, secret) || strings.Contains(o.stdout+o.stderr, "hunter2") {
				t.Errorf("%q: the password is printed: %s", dsn, o)
			}
		}
	}
}

// TestThePasswordIsNotLogged: a daemon with a real password, whose sessions are killed
// while it works.
func TestThePasswordIsNotLogged(t *testing.T) {
	w := ready(t)
	user, secret := "cw_"+nonce(t), "p/w:@?#'"+nonce(t)
	quoted := strings.ReplaceAll(secret, "'", "''")
	w.exec(fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", user, quoted))
	t.Cleanup(func() { // before the pool is closed
		if _, err := w.db.Exec(fmt.Sprintf("DROP USER '%s'@'%%'", user)); err != nil {
			t.Error(err)
		}
	})
	w.exec(fmt.Sprintf("GRANT ALL ON `%s`.* TO '%s'@'%%'", w.cfg.DBName, user))
	total := w.fill(1, 60, 50)
	w.ok("enqueue", "project", "1")

	w.env = append(w.env, fmt.Sprintf("%s=%s@tcp(%s)/%s", shell.EnvDSN, user+":"+secret, w.cfg.Addr, w.cfg.DBName))
	w.want(0, "project 1", "jobs")
	d := w.start("run", "--batch", "5", "--lease", "300ms", "--poll", "50ms")
	// Before it works, a lost connection ends it.
	w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > 0 })
	for range 3 {
		dbtest.Eventually(t, deadline, func() (bool, string) { return len(dbtest.SessionsOf(t, w.db, user)) > 0, "it has no session" })
		before := w.number(sqlDeleted)
		w.killSessions(user)
		if before < total {
			w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > before || n == total })
		}
	}
	w.eventually("jobs done", "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'", func(n int64) bool { return n == 1 })
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 0 {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	log := d.stderr.String()
	for _, form := range []string{secret, url.QueryEscape(secret), url.UserPassword(user, secret).String(), fmt.Sprintf("%q", secret)} {
		if strings.Contains(log, form) {
			t.Errorf("the password is in the log:\n%s", log)
		}
	}
	if !strings.Contains(log, "database="+w.cfg.Addr+"/"+w.cfg.DBName) {
		t.Errorf("the log does not say where it works:\n%s", log)
	}
	w.wantDone(total)
}

// killSessions ends the user's sessions; one may be gone before it is killed.
func (w *world) killSessions(user string) {
	w.t.Helper()
	for _, id := range dbtest.SessionsOf(w.t, w.db, user) {
		if _, err := w.db.ExecContext(w.t.Context(), fmt.Sprintf("KILL %d", id)); err != nil {
			w.t.Logf("KILL %d: %v", id, err)
		}
	}
}

func nonce(t *testing.T) string {
	t.Helper()
	var raw [6]byte
	if _, err := rand.Read(raw[:]); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(raw[:])
}

// TestOutputIsClosed: a reader that has gone away, as in jobs | head -1, is a failure and
// no panic.
func TestOutputIsClosed(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t}
	cmd := w.command(t.Context(), "ddl", "--plan", "-")
	cmd.Stdin, cmd.Stdout = strings.NewReader(testPlan), full
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if code := exitCode(t, cmd.Run()); code != 1 || !isOneLine(stderr.String()) {
		t.Errorf("exit code %d: %q", code, stderr.String())
	}
}
