package webfuzz

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onerow/onerow/proof/internal/checkout"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// startTime is how long a program may take until it listens; the helpdesk adopts a database first.
const startTime = 90 * time.Second

// listening is how each of them says where.
var listening = regexp.MustCompile(`(?:listening on |url=)(http://127\.0\.0\.1:\d+)|(http://127\.0\.0\.1:8082)$`)

// program is a process that serves.
type program struct {
	name, url string
	cmd       *exec.Cmd
	said      chan string   // where it listens
	ended     chan struct{} // it is closed when the process has
	running   sync.WaitGroup

	failed atomic.Int64 // answers of 500 while sessions of the database were killed

	mu   sync.Mutex
	log  bytes.Buffer
	base usage
}

// build builds a program of the repository into dir, or finds it in a folder where all are built already.
func build(ctx context.Context, dir, built, path string) (string, error) {
	if built != "" {
		return filepath.Join(built, filepath.Base(path)), nil
	}
	root, err := os.Getwd() // as checkout.Enter left it
	if err != nil {
		return "", fmt.Errorf("soak: %w", err)
	}
	module, rest, err := checkout.Module(root, path)
	if err != nil {
		return "", err //nolint:wrapcheck // it says all
	}
	bin := filepath.Join(dir, filepath.Base(path))
	out, err := exec.CommandContext(ctx, "go", "build", "-C", module, "-o", bin, "./"+rest).CombinedOutput() //nolint:gosec // our own
	if err != nil {
		return "", fmt.Errorf("soak: go build %s: %w\n%s", path, err, out)
	}
	return bin, nil
}

// start starts a program and waits until it listens.
func start(ctx context.Context, name, bin string, env []string, args ...string) (*program, error) {
	p := &program{name: name, said: make(chan string, 1), ended: make(chan struct{})}
	p.cmd = exec.Command(bin, args...)                                  //nolint:gosec,noctx // our own; it ends by a signal, see stop
	p.cmd.Env = append(append(os.Environ(), env...), "GOTRACEBACK=all") // so that SIGQUIT shows all goroutines
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}             // ^C is for the soak, which ends them
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("soak: %s: %w", name, err)
	}
	p.running.Go(func() { p.listen(out) })
	p.running.Go(func() {
		_ = p.cmd.Wait() //nolint:errcheck // how it ended is seen in its log
		_ = in.Close()   //nolint:errcheck // never fails
		close(p.ended)
	})
	select {
	case p.url = <-p.said:
		return p, nil
	case <-p.ended:
	case <-time.After(startTime):
	case <-ctx.Done():
	}
	p.stop(syscall.SIGKILL)
	return nil, fmt.Errorf("soak: %s does not listen:\n%s", name, p.tail())
}

// listen keeps what the program says, and finds out where it listens.
func (p *program) listen(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		p.mu.Lock()
		p.log.WriteString(line)
		p.mu.Unlock()
		if found := listening.FindStringSubmatch(strings.TrimSpace(line)); found != nil && p.url == "" {
			select {
			case p.said <- found[1] + found[2]:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// addr is the host and port.
func (p *program) addr() string { return strings.TrimPrefix(p.url, "http://") }

// stop sends a signal and waits for the end; one that does not heed it is killed.
func (p *program) stop(how syscall.Signal) {
	_ = p.cmd.Process.Signal(how) //nolint:errcheck // it may have ended
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill() //nolint:errcheck // as above
		<-p.ended
	}
	p.running.Wait()
}

// text is the whole log.
func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// tail is the end of the log.
func (p *program) tail() string {
	text := p.text()
	return text[max(0, len(text)-3000):]
}

// dead says whether the process has ended by itself.
func (p *program) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// usage is what a process has.
type usage struct {
	files      int   // descriptors
	resident   int64 // KiB now
	mostMemory int64 // KiB at most
}

var errNoProc = errors.New("soak: there is no /proc here, so nothing is known of a process")

// measure reads /proc.
func (p *program) measure() (u usage, err error) {
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	entries, err := os.ReadDir(dir + "fd")
	if err != nil {
		return u, fmt.Errorf("%w: %w", errNoProc, err)
	}
	text, err := os.ReadFile(dir + "status") //nolint:gosec // of our own process
	if err != nil {
		return u, fmt.Errorf("%w: %w", errNoProc, err)
	}
	u.files = len(entries)
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64) //nolint:errcheck // 0 for other lines
		switch name {
		case "VmRSS":
			u.resident = n
		case "VmHWM":
			u.mostMemory = n
		}
	}
	return u, nil
}

// What a process may have more than before, when nobody asks it for anything any more.
const (
	moreFiles = 48 // the pool of connections to the database among them
	mostKiB   = 400 << 10
)

// Kinds of findings about a process.
const (
	brokenEnded  = "a program has ended"
	brokenPanic  = "a panic in the log"
	brokenFiles  = "file descriptors are left"
	brokenMemory = "a program took much memory"
	brokenConns  = "connections are served that have no client"
)

// settled judges a process that has no clients any more, and ends it with SIGQUIT, which shows its
// goroutines.
func (p *program) settled(ctx context.Context, found *fuzz.Findings) error {
	if p.dead() {
		found.Add(brokenEnded, "%s:\n%s", p.name, p.tail())
		return nil
	}
	var now usage
	few, err := fuzz.Within(ctx, 20*time.Second, func() (bool, error) {
		var err error
		now, err = p.measure()
		return now.files <= p.base.files+moreFiles, err
	})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if !few {
		found.Add(brokenFiles, "%s has %d, and %d before", p.name, now.files, p.base.files)
	}
	if now.mostMemory > mostKiB {
		found.Add(brokenMemory, "%s took %d MiB", p.name, now.mostMemory>>10)
	}
	p.stop(syscall.SIGQUIT)
	judgeLog(p.name, p.text(), p.failed.Load(), found)
	fmt.Printf("   %s: %d descriptors, %d before; %d MiB, %d at most; %d answers of 500 for statements that were killed\n", p.name, now.files, p.base.files, now.resident>>10, now.mostMemory>>10, p.failed.Load())
	return nil
}

// interrupted is what the server says of a statement that KILL QUERY has ended. The programs answer 500 then.
var interrupted = regexp.MustCompile(`(?m)^.*Error 1317 .*$`)

// failures are the programs' own words for what they answer 500 to.
var failures = regexp.MustCompile(`(?m)^.*level=ERROR.*$`)

// panics are what Go and package slog write of one; quit is where SIGQUIT's goroutines begin.
var (
	panics = regexp.MustCompile(`(?m)^.*(msg=panic\b|panic serving|^panic: |runtime error|fatal error: |DATA RACE).*$`)
	quit   = "SIGQUIT: quit"
	served = regexp.MustCompile(`(?m)^net/http\.\(\*conn\)\.serve\(`)
)

// judgeLog looks for panics, for what explains the answers of 500, and in what SIGQUIT has shown for
// connections.
func judgeLog(name, text string, failed int64, found *fuzz.Findings) {
	log, goroutines, _ := strings.Cut(text, quit)
	if n := len(interrupted.FindAllString(log, -1)); failed > int64(n) {
		var others []string
		for _, line := range failures.FindAllString(log, -1) {
			if !interrupted.MatchString(line) {
				others = append(others, line)
			}
		}
		found.Add(brokenStatus+", under kills", "%s: %d, and the log has %d statements that were killed, and: %.3000s", name, failed, n, strings.Join(others, "\n"))
	}
	for _, line := range panics.FindAllString(log, 5) {
		found.Add(brokenPanic, "%s: %s", name, line)
	}
	if n := len(served.FindAllString(goroutines, -1)); n > 0 {
		found.Add(brokenConns, "%s: %d", name, n)
	}
}
