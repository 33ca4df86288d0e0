package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/onerow/onerow/cascade/command/internal/daemon"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/fileassets"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// hostileTexts are what a person, an application or an attacker may have put into an id, a
// name, a reason or an error.
var hostileTexts = []string{"`", "'", `"`, `\`, "'; DROP TABLE project; -- ", "1 OR 1=1", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)",
	"{{.}}", "\x1b[2J", "\u202e1", "a\r\nSet-Cookie: x=1", strings.Repeat("x", 600), strings.Repeat("ä", 65), "%00", "\xff", "../../etc/passwd", "ｄｒｏｐ"}

// TestHostilePlans: a name or a type in a plan never becomes SQL. It is refused, in one line,
// before a database is asked, or it is quoted.
func TestHostilePlans(t *testing.T) {
	t.Parallel()
	w := ready(t)
	file := filepath.Join(t.TempDir(), "hostile.yaml")
	places := []string{
		"resources: [{name: %s}]",
		"resources: [{name: a, archive: %s}]",
		"resources: [{name: a, owner: %s, label: {column: n}}]",
		"resources: [{name: a, owner: o, label: {column: %s}}]",
		"resources: [{name: a, asset: %s}]",
		"resources: [{name: a, columns: [{name: %s, type: INT}]}]",
		"resources: [{name: a, columns: [{name: b, type: %s}]}]",
		"resources: [{name: a, columns: [{name: b, type: INT}], indexes: [{columns: [%s]}]}]",
		"tables: [{name: %s, key: [id]}]",
		"tables: [{name: project, key: [%s]}]",
		"tables: [{name: project, key: [id], archive: %s}]",
		"tables: [{name: project, key: [id], asset: %s}]",
		"tables: [{name: project, key: [id], triggers: [%s]}]",
		"tables: [{name: project, key: [id], parents: [{table: project, columns: [%s]}]}]",
		"tables: [{name: project, key: [id], parents: [{table: project, columns: [user_id], references: [%s]}]}]",
		"tables: [{name: project, key: [id], parents: [{table: project, columns: [user_id], when: {%s: x}}]}]",
		"tables: [{name: project, key: [id], parents: [{table: project, columns: [user_id], when: {name: %s}}]}]",
		"tables: [{name: project, key: [id], parents: [{table: project, columns: [user_id], on_delete: %s}]}]",
	}
	before := w.number("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()")
	l := &least{world: w}
	for i, place := range places {
		for j, text := range append(hostileTexts, "select", "INT); DROP TABLE project; --", "INT, x INT", "INT COMMENT 'a") {
			if !utf8.ValidString(text) {
				continue // no YAML
			}
			w.write(file, fmt.Sprintf(place, yamlText(text)))
			for _, args := range []string{"ddl", "verify", "plan project 1"} {
				if args != "ddl" && (i+j)%5 != 0 {
					continue // these ask the server a lot
				}
				out, err := l.output(w, append(strings.Fields(args), "--plan", file)...)
				if args == "ddl" && err == nil {
					out = strings.TrimPrefix(strings.ReplaceAll(out, "\u202e", ""), tables.GooseUp) // SQL has names as they are
				}
				if strings.ContainsAny(out, "\x1b\u202e\x00") || strings.Contains(out, "panic") || strings.Contains(out, "Error 1064") {
					t.Fatalf("%s: %q: %q", args, text, out)
				}
				if args == "ddl" && err == nil && strings.TrimSpace(out) != tables.NoResources {
					for i, piece := range strings.Split(strings.ReplaceAll(out, "``", ""), "`") {
						if i%2 == 0 && (strings.Contains(piece, "DROP") || strings.Contains(piece, "--")) {
							t.Errorf("%q is in the statements: %s", text, out)
						}
					}
				}
				if args == "ddl" && err != nil && strings.Count(strings.TrimSpace(out), "\n") > 0 {
					t.Errorf("%q is refused in more than one line: %q", text, out)
				}
			}
		}
	}
	if n := w.number("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != before {
		t.Errorf("there were %d tables, there are %d", before, n)
	}
}

// yamlText is a text in YAML's double quotes.
func yamlText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' || r > '~' {
			fmt.Fprintf(&b, `\U%08x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

// TestHostileArguments: ids, names, keys and series from the command line are values, and
// what is printed about them is for a terminal.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	l := grantsReady(t)
	l.anew()
	var commands [][]string
	for _, text := range hostileTexts {
		commands = append(commands, []string{"enqueue", "project", "--", text}, []string{"enqueue", "--", text, "1"}, []string{"plan", "project", "--", text}, []string{"plan", "--", text, "1"},
			[]string{"retry", "--", text}, []string{"undo", "--", text}, []string{"parked", "skip", "--", text}, []string{"jobs", "--state=" + text}, []string{"orphans", "--table=" + text},
			[]string{"orphans", "--after=" + text}, []string{"keys", "show", "--", text, text, text}, []string{"keys", "release", "t", "op", "runs", "--token=4", "--by=" + text, "--reason=" + text},
			[]string{"serials", "gaps", "--", text}, []string{"pause", "--", text}, []string{"resume"}, []string{"discover", "--root=" + text}, []string{"verify", "--grants=" + text}, []string{"--", text})
	}
	rows := l.rows()
	for _, args := range commands {
		out, err := l.output(l.world, args...)
		if strings.ContainsAny(out, "\x1b\u202e\x00") || strings.Contains(out, "panic") || strings.Contains(out, "Error 1064") {
			t.Errorf("%q: %v: %q", args, err, out)
		}
	}
	if n := l.rows(); n != rows {
		t.Errorf("there were %d rows, there are %d", rows, n)
	}
	if n := l.number("SELECT COUNT(*) FROM onerow_key WHERE status = 'in_progress'"); n != 1 {
		t.Errorf("%d keys are in progress", n)
	}
}

// TestHostilePage: what is in the tables, whoever put it there, is text on the page and in
// its metrics.
func TestHostilePage(t *testing.T) {
	s := ready(t).serve("", true)
	for i, text := range hostileTexts {
		text = strings.ToValidUTF8(text, "?")
		key := cut512("'" + text)
		s.exec(`INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, worker, last_error, failures, created_at)
VALUES (?, ?, ?, 0, 'ready', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, LEFT(?, 255), ?, 3, UTC_TIMESTAMP(6))`, 10+i, []byte(text)[:min(len(text), 64)], key, text, text)
		s.exec(`INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, ?, ?, ?, 'parked', UTC_TIMESTAMP(6))`, 10+i, []byte(text)[:min(len(text), 200)], key, text)
		s.exec(`INSERT INTO onerow_worker VALUES (?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), LEFT(?, 255), 1, 1)`, []byte(text)[:min(len(text), 200)], text)
		s.exec(`INSERT INTO onerow_deletion (id, resource, resource_id, owner, deleted_from, grace_us, requested_at) VALUES (?, ?, ?, ?, 'active', 1, UTC_TIMESTAMP(6))`,
			500+i, []byte(text)[:min(len(text), 64)], key, key)
	}
	s.exec("INSERT INTO onerow_switch VALUES ('pause', 1, ?, UTC_TIMESTAMP(6), 1)", strings.Join(hostileTexts[:9], ""))
	s.changed()
	for _, path := range []string{"/", "/live", "/metrics", "/readyz", "/?x=<script>", "/jobs/10/undo"} {
		body := s.get(path, asHTML).body
		for _, never := range []string{"<script>alert", "<img src=x", "\x1b", "\u202e", `href="javascript:`, "\x00"} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %q as it is: %s", path, never, body)
			}
		}
	}
	s.says(s.get("/"), http.StatusOK, "&lt;script&gt;")
	for _, text := range hostileTexts {
		got := s.do(http.MethodPost, "/pause", url.Values{"reason": {text}})
		if got.StatusCode != http.StatusSeeOther && got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%q: %s", text, got.Status)
		}
		if strings.ContainsAny(got.Header.Get("Set-Cookie")+got.Header.Get("Location"), "\r\n\x1b") || got.Header.Get("Location") != "/" {
			t.Errorf("%q is in a header: %v", text, got.Header)
		}
		for _, c := range got.Cookies() {
			if body := s.get("/", func(r *http.Request) { r.AddCookie(c) }).body; strings.Contains(body, "<script>alert") || strings.Contains(body, "\x1b") {
				t.Errorf("%q is in the page as it is", text)
			}
		}
	}
}

func cut512(text string) []byte { return []byte(text)[:min(len(text), 512)] }

// TestSlowAndGreedyClients: on the real server of run, clients that send half a header, half
// a body, too many headers or too much are cut off, and nobody else waits for them.
func TestSlowAndGreedyClients(t *testing.T) {
	w := ready(t)
	s := w.daemonPage()
	address := strings.TrimPrefix(s.base, "http://")
	dial := func(text string) net.Conn {
		t.Helper()
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) //nolint:errcheck // the server has closed it
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return c
	}
	begin := time.Now()
	var slow []net.Conn
	for range 50 {
		slow = append(slow, dial("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
			dial("POST /pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+testToken+"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nreason="))
	}
	for range 5 {
		asked := time.Now()
		s.says(s.get("/healthz"), http.StatusOK)
		s.says(s.get("/"), http.StatusOK)
		if took := time.Since(asked); took > daemon.HeaderTimeout {
			t.Errorf("an honest client waits for %s", took)
		}
	}
	for name, request := range map[string]string{
		"a long header": "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 4*daemon.MaxHeader) + "\r\n\r\n",
		"many headers":  "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Y: z\r\n", daemon.MaxHeader) + "\r\n",
		"a long line":   "GET /" + strings.Repeat("x", 4*daemon.MaxHeader) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		answer, err := exchange(t.Context(), address, request)
		if err == nil && !strings.HasPrefix(answer, "HTTP/1.1 431") && answer != "" {
			t.Errorf("%s: %.200q", name, answer)
		}
	}
	big := s.do(http.MethodPost, "/pause", url.Values{"reason": {strings.Repeat("x", 1<<20)}})
	s.says(big, http.StatusRequestEntityTooLarge)
	for i, c := range slow {
		if err := c.SetReadDeadline(begin.Add(daemon.ReadTimeout + 20*time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the slow client %d is still connected after %s", i, time.Since(begin))
		}
	}
	if took := time.Since(begin); took > daemon.ReadTimeout+15*time.Second {
		t.Errorf("slow clients are kept for %s", took)
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on"); n != 0 {
		t.Error("half a body has paused the workers")
	}
}

// exchange sends a request as it is and reads the answer's beginning.
func exchange(ctx context.Context, address, request string) (answer string, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return "", err
	}
	_, wrote := io.WriteString(c, request) // the server may close in the middle
	head := make([]byte, 64)
	n, err := io.ReadAtLeast(c, head, 1)
	return string(head[:n]), errors.Join(wrote, err)
}

// daemonPage runs the daemon with a page and a token, in this process.
func (w *world) daemonPage() *site {
	w.t.Helper()
	free, err := new(net.ListenConfig).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	var log bytes.Buffer
	go func() {
		ended <- execute(ctx, shell.Environment{OpenAssets: fileassets.Open, Args: []string{"run", "--http", address, "--poll", "100ms"}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &log, Getenv: func(name string) string {
			return map[string]string{shell.EnvDSN: w.url(), shell.EnvPlan: w.plan, output.EnvToken: testToken}[name]
		}})
	}()
	w.t.Cleanup(func() {
		stop()
		if code := <-ended; code != shell.ExitOK || strings.Contains(log.String(), testToken) {
			w.t.Errorf("exit code %d: %s", code, log.String())
		}
	})
	s := &site{world: w, base: "http://" + address, client: http.DefaultClient, token: testToken}
	dbtest.Eventually(w.t, 30*time.Second, func() (bool, string) {
		answer, err := exchange(w.t.Context(), address, "GET /healthz HTTP/1.0\r\n\r\n")
		return err == nil && strings.Contains(answer, "200"), fmt.Sprint(answer, err)
	})
	return s
}

// TestNoCommandPrintsAPassword: each command of the program, in each way in which a
// connection fails, and when it fails in the middle.
func TestNoCommandPrintsAPassword(t *testing.T) {
	t.Parallel()
	l := grantsReady(t)
	l.anew()
	secret := "hunter2-" + nonce(t)
	arguments := map[string]string{"enqueue": "project 1", "undo": "900", "plan": "project 1", "retry": "900071", "parked retry": "20", "parked skip": "20", "pause": "why",
		"migrate down": "--yes", "keys show": "t op runs", "keys release": "t op runs --token 5 --by a --reason b", "keys complete": "t op runs --token 5 --by a --reason b --result 1",
		"keys expire": "t op done --token 5 --by a --reason b", "serials gaps": "s", "discover": "--root project", "run": "--max-lag 10s --http 127.0.0.1:0"}
	parser, err := kong.New(&commandLine{}, kong.Name(output.ProgramName))
	if err != nil {
		t.Fatal(err)
	}
	proxy := cutting(t, l.cfg.Addr)
	user := strings.Split(l.user.Grantee(), "'")[1]
	for _, leaf := range parser.Model.Leaves(true) {
		command := strings.TrimPrefix(leaf.FullPath(), output.ProgramName+" ")
		args := append(strings.Fields(command), strings.Fields(arguments[command])...)
		for way, dsn := range map[string]string{
			"unreachable":      "root:" + secret + "@tcp(127.0.0.1:1)/x",
			"wrong password":   fmt.Sprintf("%s:%s@tcp(%s)/%s", user, secret, l.cfg.Addr, l.cfg.DBName),
			"unknown database": fmt.Sprintf("%s:%s@tcp(%s)/nowhere", user, secret, l.cfg.Addr),
			"bad parameter":    fmt.Sprintf("%s:%s@tcp(%s)/%s?no_such_variable=1", user, secret, l.cfg.Addr, l.cfg.DBName),
			"cut":              fmt.Sprintf("%s:%s@tcp(%s)/%s", user, secret, proxy, l.cfg.DBName),
			"nonsense":         "root:" + secret,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			var out bytes.Buffer
			code := execute(ctx, shell.Environment{OpenAssets: fileassets.Open, Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string {
				return map[string]string{shell.EnvDSN: dsn, shell.EnvPlan: l.plan, shell.EnvAssets: "file://" + l.photos, output.EnvToken: "token-" + secret, shell.EnvReplicas: dsn + " r:" + secret + "@tcp(127.0.0.1:1)/x"}[name]
			}})
			cancel()
			if strings.Contains(out.String(), "hunter2") {
				t.Errorf("%s, %s: the password is printed: %s", command, way, out.String())
			}
			if code == shell.ExitOK && command != "ddl" && command != "migrate sql" { // which need no database
				t.Errorf("%s, %s: it worked: %s", command, way, out.String())
			}
		}
	}
}

// cutting passes a server's greeting on and cuts the connection when the client has
// answered it with its password.
func cutting(t *testing.T, server string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close() //nolint:errcheck // it is cut
				back, err := new(net.Dialer).DialContext(t.Context(), "tcp", server)
				if err != nil {
					return
				}
				defer back.Close() //nolint:errcheck // it is cut
				greeting := make([]byte, 4096)
				n, err := back.Read(greeting)
				if err == nil {
					_, err = client.Write(greeting[:n])
				}
				if err == nil {
					_, err = client.Read(greeting)
				}
				if err != nil {
					return
				}
			}()
		}
	}()
	return listener.Addr().String()
}
