package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/records"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/idempotency"
)

// oddID has what a shell, a terminal and a table would each trip over.
const oddID = "it's | a\tkey"

// withKeys is a database with a key in each state, and their tokens.
func withKeys(t *testing.T) (*world, *idempotency.Keys, map[string]int64) {
	t.Helper()
	w := empty(t)
	w.ok("migrate", "up")
	keys, err := idempotency.New(idempotency.Config{Name: "web-1:7"})
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]int64{}
	begin := func(tenant, id string, expected time.Duration) idempotency.Claim {
		claim, _, err := idempotency.Begin[int](t.Context(), w.db, keys, idempotency.Key{Tenant: tenant, Operation: "charge", ID: id}, idempotency.Options{Expected: expected})
		if err != nil {
			t.Fatal(err)
		}
		tokens[id] = claim.Token
		return claim
	}
	begin("acme", "runs", time.Hour)
	begin("acme", "late", time.Microsecond)
	begin("", oddID, time.Microsecond)
	if err := errors.Join(
		keys.Complete(t.Context(), w.db, begin("acme", "done", time.Hour), 1),
		keys.Fail(t.Context(), w.db, begin("acme", "odd answer", time.Hour), errors.New("502\nfrom the bank"), idempotency.Options{Attention: true}),
		keys.Fail(t.Context(), w.db, begin("acme", "refused", time.Hour), errors.New("no such card")),
	); err != nil {
		t.Fatal(err)
	}
	return w, keys, tokens
}

func TestKeysList(t *testing.T) {
	w, _, tokens := withKeys(t)
	out := w.ok("keys", "list")
	t.Log("\n" + out)
	lines := strings.Split(out, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "TENANT  OPERATION  ID") || !strings.Contains(lines[1], "overdue since 20") ||
		!strings.Contains(lines[2], `''      charge     $'it\'s | a\x09key'`) || !strings.Contains(lines[3], "502; from the bank") || !strings.Contains(lines[3], "'odd answer'") {
		t.Errorf("%q", lines)
	}
	for flag, want := range map[string][]string{
		"": {"late", oddID, "odd answer"}, "--overdue": {"late", oddID}, "--errored": {"odd answer"}, "--failed": {"refused", "odd answer"},
		"--in-progress": {"late", oddID, "runs"}, "--limit=1": {"late"},
	} {
		var entries []idempotency.Entry
		if err := json.Unmarshal([]byte(w.ok(append([]string{"keys", "list", "--json"}, strings.Fields(flag)...)...)), &entries); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Key.ID)
			if e.Token != tokens[e.Key.ID] || e.Holder != "web-1:7" || e.Since.IsZero() {
				t.Errorf("%q: %+v", flag, e)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q lists %q, want %q", flag, got, want)
		}
	}
	w.exec("DELETE FROM onerow_key")
	if o := w.want(0, "no such keys", "keys", "list"); o.stdout != "" {
		t.Error(o)
	}
	if out := w.ok("keys", "list", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%q", out)
	}
}

// TestKeysPaste: what is printed in bash's quotes can be pasted into bash.
func TestKeysPaste(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "a-b_c.d/e:f", "it's", "a b", oddID, "~x", "$HOME`id`", "\xff\x00"[:1], "naïve 😀", "\u202egnirts", "*", "!1", `\n`, "\n"} {
		out, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+records.ShellWord(id)).Output()
		if err != nil || string(out) != id {
			t.Errorf("%q is printed as %s, which bash takes for %q, %v", id, records.ShellWord(id), out, err)
		}
		if output.Printable(records.ShellWord(id)) != records.ShellWord(id) {
			t.Errorf("%q is printed as %q", id, records.ShellWord(id))
		}
	}
}

// TestKeysAct: each verb acts on what was seen and on nothing else, and is audited.
func TestKeysAct(t *testing.T) {
	w, keys, tokens := withKeys(t)
	as := func(verb, tenant, id string, more ...string) []string {
		return append([]string{"keys", verb, tenant, "charge", id, "--by", "ann", "--reason", "OPS-12", "--token", fmt.Sprint(tokens[id])}, more...)
	}
	for range 2 { // the second one changes nothing
		w.want(0, `'' charge $'it\'s | a\x09key' is released`, as("release", "", oddID)...)
	}
	w.want(0, "acme charge late is complete", as("complete", "acme", "late", "--result", ` {"receipt": "R-9"} `)...)
	w.want(1, "the key is error, not in_progress; if that is right, say --status error", as("release", "acme", "odd answer")...)
	o := w.runIn("null\n", as("complete", "acme", "odd answer", "--status", "error", "--result", "-", "--keep", "1h")...)
	if o.code != 0 || !strings.Contains(o.stdout, "is complete") {
		t.Error(o)
	}
	w.want(0, "is expired", as("expire", "acme", "done")...)
	w.want(0, "is released", as("release", "acme", "refused", "--status=error")...)

	// What has moved on is left alone.
	claim, _, err := idempotency.Begin[int](t.Context(), w.db, keys, idempotency.Key{Operation: "charge", ID: oddID})
	if err != nil || claim.Token <= tokens[oddID] {
		t.Fatal(claim, err)
	}
	for says, args := range map[string][]string{
		fmt.Sprintf("the key's token is %d by now", claim.Token): as("complete", "", oddID, "--result=1"),
		"there is no such key":                 as("release", "acme", oddID),
		"the key is in_progress, not complete": as("expire", "acme", "runs"),
		"the key is complete, not in_progress": as("release", "acme", "done"),
	} {
		if o := w.want(1, says, args...); o.stdout != "" || !isOneLine(o.stderr) {
			t.Error(o)
		}
	}
	bob := as("expire", "acme", "done")
	bob[6] = "bob"
	w.want(1, "expired already", bob...)
	if _, out, err := idempotency.Begin[map[string]string](t.Context(), w.db, keys, idempotency.Key{Tenant: "acme", Operation: "charge", ID: "late"}); err != nil || out == nil || out.Row["receipt"] != "R-9" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := w.number("SELECT COUNT(*) FROM onerow_key_audit WHERE actor = 'ann' AND reason = 'OPS-12'"); got != 5 {
		t.Errorf("%d audit rows", got)
	}

	out := w.ok("keys", "show", "acme", "charge", "odd answer")
	t.Log("\n" + out)
	for _, want := range []string{"acme charge 'odd answer'", "complete", "answers until  20", "ACTION", "OPS-12"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	var s records.Shown
	if err := json.Unmarshal([]byte(w.ok("keys", "show", "acme", "charge", "late", "--json")), &s); err != nil ||
		s.Key.Status != idempotency.Completed || len(s.Audit) != 1 || s.Audit[0].Seen != idempotency.InProgress {
		t.Errorf("%+v, %v", s, err)
	}
	w.want(1, "there is no such key", "keys", "show", "ACME", "charge", "late")

	w.ok("purge") // "done"; what was released stays for a day
	w.want(0, "purged; only its audit is left", "keys", "show", "acme", "charge", "done")
	w.exec("UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE status <> 'in_progress'")
	if got := w.number("SELECT COUNT(*) FROM onerow_key WHERE status <> 'in_progress'"); got != 3 {
		t.Errorf("%d keys have expired", got)
	}
	w.ok("purge")
	if got := w.number("SELECT COUNT(*) FROM onerow_key"); got != 2 {
		t.Errorf("%d keys are left, of which 2 are in progress", got)
	}
}

// TestKeysWrongInput: one line each, and the exit code that says whose turn it is.
func TestKeysWrongInput(t *testing.T) {
	w := empty(t)
	act := " acme charge 1 --by ann --reason why --token 1"
	for args, says := range map[string]string{
		"keys": "one of list, show", "keys list --overdue --errored": "can't be used together", "keys list --limit 0": "--limit",
		"keys release acme charge 1": "--token", "keys release acme charge 1 --by ann --reason why --token 0": "--token is 0",
		"keys release" + act + " --status complete": "--status", "keys expire" + act + " --status in_progress": "--status", "keys complete" + act: "--result",
		"keys complete" + act + " --result {": "no JSON", "keys complete" + act + " --result 1 --keep=-1s": "--keep",
		"keys show acme charge": "<id>", "keys show acme charge " + strings.Repeat("x", 256): "255 bytes", "keys release acme charge 1 --token 1 --reason why --by=": "cannot be empty",
		"serials": "one of", "serials gaps": "<series>", "serials gaps " + strings.Repeat("x", 256): "255 bytes",
	} {
		if o := w.run(strings.Fields(args)...); o.code != 2 || o.stdout != "" || !isOneLine(o.stderr) || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: %s", args, o)
		}
	}
	folder, err := os.Open(t.TempDir()) // cannot be read
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	if o := w.runFrom(folder, strings.Fields("keys complete"+act+" --result -")...); o.code != 1 || !isOneLine(o.stderr) || !strings.Contains(o.stderr, "read the result from standard input") {
		t.Error(o)
	}
	for _, args := range []string{"keys list", "keys show a b c", "keys expire" + act, "serials list", "serials gaps x"} {
		if o := w.run(strings.Fields(args)...); o.code != 1 || o.stdout != "" || !isOneLine(o.stderr) || !strings.Contains(o.stderr, "cascade-worker migrate up") {
			t.Errorf("%s: %s", args, o)
		}
	}
	for _, command := range []string{"keys", "keys list", "keys show", "keys release", "keys complete", "keys expire", "serials", "serials list", "serials gaps"} {
		out := w.ok(append(strings.Fields(command), "--help")...)
		if !strings.HasPrefix(out, "Usage: cascade-worker") || !strings.Contains(out, "Examples:") || strings.Contains(out, "”") {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
}
