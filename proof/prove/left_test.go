package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/proof/internal/checkout"
)

// start runs the program in a process of its own, until it is at work in its database.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, name string, rest io.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := ""
	lines := bufio.NewReader(pipe)
	for !strings.Contains(said, "settings ") { // its first check is done
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		said += line
	}
	return cmd, nameIn(t, said), lines
}

// TestKilled: after a SIGKILL the database is left, named by the next run and dropped by -drop, and what has no
// mark is never touched. While the run is at work nobody drops it.
func TestKilled(t *testing.T) {
	server := dbtest.Server(t)
	db, dsn := admin(t, server), plainDSN(server)
	const unmarked, copied = prefix + "00000000", prefix + "11111111"
	for _, other := range []string{unmarked, copied} {
		dbtest.Exec(t, db, "CREATE DATABASE "+other)
		defer dbtest.Exec(t, db, "DROP DATABASE "+other)
	}
	cmd, name, rest := start(t, "-dsn", dsn, "-short")
	dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE %s.%s SELECT * FROM %s.%[2]s", copied, markTable, name)) // a dump of it
	if code, said := program(t, "-dsn", dsn, "-drop", name); code != exitNoRun || !strings.Contains(said, "a run is at work in it") && !strings.Contains(said, "is at work in "+name) {
		t.Errorf("exit code %d: %s", code, said)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, rest)
	_ = cmd.Wait()
	dbtest.Eventually(t, patience, func() (bool, string) {
		free, err := isFree(t.Context(), db, name)
		return free, fmt.Sprint("its lock is held, ", err)
	})
	code, said := program(t, "-dsn", dsn, "-only", "times")
	for _, want := range []string{"has left the database " + name, unmarked + " without a mark", copied + " without a mark"} {
		if code != exitHolds || !strings.Contains(said, want) {
			t.Errorf("exit code %d, and no %q: %s", code, want, said)
		}
	}
	for _, other := range []string{unmarked, copied, "mysql"} {
		if code, said := program(t, "-dsn", dsn, "-drop", other); code != exitNoRun {
			t.Errorf("%s: exit code %d: %s", other, code, said)
		}
	}
	if names := databases(t, server); !slices.Contains(names, name) || !slices.Contains(names, unmarked) || !slices.Contains(names, copied) {
		t.Errorf("there are %v", names)
	}
	if code, said := program(t, "-dsn", dsn, "-drop", name); code != exitHolds || slices.Contains(databases(t, server), name) {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestInterrupted: SIGINT ends it, and the database is gone.
func TestInterrupted(t *testing.T) {
	server := dbtest.Server(t)
	cmd, name, rest := start(t, "-dsn", plainDSN(server), "-short")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(rest)
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitNoRun || !strings.Contains(string(said), "prove: interrupted") {
		t.Errorf("%v: %s", err, said)
	}
	if names := databases(t, server); slices.Contains(names, name) {
		t.Errorf("there are %v", names)
	}
}

// TestKept: -keep leaves the database.
func TestKept(t *testing.T) {
	server := dbtest.Server(t)
	code, said := program(t, "-dsn", plainDSN(server), "-only", "times", "-keep")
	name := nameIn(t, said)
	if code != exitHolds || !slices.Contains(databases(t, server), name) {
		t.Errorf("exit code %d: %s", code, said)
	}
	dbtest.Exec(t, admin(t, server), "DROP TABLE "+name+"."+markTable)
	defer dbtest.Exec(t, admin(t, server), "DROP DATABASE "+name)
	if code, said := program(t, "-dsn", plainDSN(server), "-drop", name); code != exitNoRun || !strings.Contains(said, "no mark") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// program is the whole of it, and all that it says.
func program(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var all bytes.Buffer
	code = command(t.Context(), args, &all, &all)
	return code, all.String()
}

// TestSentences: what cannot run says why in one sentence, without a password.
func TestSentences(t *testing.T) {
	server := dbtest.Server(t)
	db, addr := admin(t, server), server.Config("").Addr
	const secret = "hunter2-Xq"
	dbtest.Exec(t, db, "CREATE USER prove_none@'%' IDENTIFIED BY '"+secret+"'")
	defer dbtest.Exec(t, db, "DROP USER prove_none@'%'")
	for _, c := range []struct{ args, want string }{
		{"-dsn prove_none:" + secret + "x@tcp(" + addr + ")/", `refuses the user "prove_none"`},
		{"-dsn prove_none:" + secret + "@tcp(" + addr + ")/", "lacks a right: .*; -grants prints"},
		{"-dsn prove_none:" + secret + "@tcp(127.0.0.1:1)/", "127.0.0.1:1 cannot be reached: .*refused"},
		{"-dsn prove_none:" + secret, "-dsn is not a data source name"},
		{"-dsn prove_none:a/" + secret + "@tcp(h)", "-dsn is not a data source name"},
		{"-dsn x@tcp(h)/ -node " + secret, "-node is not a data source name"},
		{"-short=" + secret, "a flag has no value, or a wrong one"},
		{"-dsn x@tcp(h)/ " + secret, "a word that belongs to no flag"},
		{"-only " + "nonsense", "no check has a name like"},
		{"-nonsense", "-nonsense; -h tells"},
	} {
		code, said := program(t, strings.Fields(c.args)...)
		_, sentence, _ := strings.Cut(said, "prove: ")
		if code != exitNoRun || !regexp.MustCompile(c.want).MatchString(sentence) || strings.Count(sentence, "\n") != 1 || strings.Contains(said, "hunter2") {
			t.Errorf("%s: exit code %d: %s", c.args, code, said)
		}
	}
	t.Setenv("ONEROW_DSN", "")
	if code, said := program(t); code != exitNoRun || !strings.Contains(said, "say which server") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestPromises: each check is of a row of the page, in its words, and its name is its own.
func TestPromises(t *testing.T) {
	t.Chdir(".") // and back at the end
	if err := checkout.Enter(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/GUARANTEES.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range checks() {
		if !strings.Contains(string(page), "\n| "+c.promise) {
			t.Errorf("%s: there is no row that begins with %q", c.name, c.promise)
		}
		if names[c.name] || c.what == "" || c.run == nil || c.fix == "" && !strings.HasPrefix(c.name, "settings") {
			t.Errorf("%+v", c)
		}
		names[c.name] = true
	}
}

// TestUsage: -h tells each flag, and -list each check.
func TestUsage(t *testing.T) {
	code, said := program(t, "-h")
	for _, flag := range []string{"dsn", "node", "replica", "short", "only", "json", "keep", "list", "grants", "drop", "version"} {
		if code != exitHolds || !strings.Contains(said, "\n  -"+flag+" ") {
			t.Errorf("exit code %d, and no -%s: %s", code, flag, said)
		}
	}
	if code, said := program(t, "-version"); code != exitHolds || said != "onerow-prove "+version+"\n" {
		t.Errorf("exit code %d: %s", code, said)
	}
	code, said = program(t, "-list")
	for _, c := range checks() {
		if code != exitHolds || !strings.Contains(said, "\n"+c.name+" ") && !strings.HasPrefix(said, c.name+" ") {
			t.Errorf("exit code %d, and no %s: %s", code, c.name, said)
		}
	}
}
