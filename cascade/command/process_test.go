package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
)

// outcome is what a finished command left.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\nstdout: %s\nstderr: %s", o.code, o.stdout, o.stderr)
}

// command makes the process; its environment has nothing of this one's but what a
// program needs to start.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	bin := w.bin
	if bin == "" && len(args) > 0 && args[0] != "run" && args[0] != "drain" {
		bin = os.Getenv(envProgram)
	}
	if bin == "" {
		bin = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	// The race detector would let each process sleep for a second at its end.
	cmd.Env = append([]string{envMain + "=1", "GORACE=atexit_sleep_ms=0", "HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, w.env...)
	return cmd
}

// run runs the command to its end.
func (w *world) run(args ...string) outcome { return w.runIn("", args...) }

func (w *world) runIn(stdin string, args ...string) outcome {
	w.t.Helper()
	return w.runFrom(strings.NewReader(stdin), args...)
}

func (w *world) runFrom(stdin io.Reader, args ...string) outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := w.command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	code := exitCode(w.t, cmd.Run())
	o := outcome{code, stdout.String(), stderr.String()}
	if strings.Contains(o.stderr, "DATA RACE") || strings.Contains(o.stderr, "goroutine ") {
		w.t.Fatalf("%q: %s", args, o)
	}
	return o
}

// ok runs the command, which must succeed, and returns its output.
func (w *world) ok(args ...string) string {
	w.t.Helper()
	o := w.run(args...)
	if o.code != 0 {
		w.t.Fatalf("%q: %s", args, o)
	}
	return o.stdout
}

// exitCode is that of a process that ended by itself; -1 of one that was killed.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// build makes the real binary, under the race detector if this test is.
func (w *world) build() {
	w.t.Helper()
	w.bin = filepath.Join(w.t.TempDir(), output.ProgramName)
	args := []string{"build", "-o", w.bin}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				args = append(args, "-race")
			}
		}
	}
	cmd := exec.CommandContext(w.t.Context(), "go", append(args, "../../cmd/cascade-worker")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("go build: %v\n%s", err, out)
	}
}

// running is a command that runs beside the test.
type running struct {
	w      *world
	cmd    *exec.Cmd
	ended  chan error
	stdout *bytes.Buffer // only after the end, as stderr
	stderr *bytes.Buffer
	over   bool
}

func (w *world) start(args ...string) *running {
	w.t.Helper()
	d := &running{w: w, cmd: w.command(context.Background(), args...), ended: make(chan error, 1), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	d.cmd.Stdout, d.cmd.Stderr = d.stdout, d.stderr
	if err := d.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { d.ended <- d.cmd.Wait() }()
	w.t.Cleanup(func() {
		if !d.over {
			d.signal(syscall.SIGKILL)
			w.t.Log("still running at the end of the test:", <-d.ended)
		}
	})
	return d
}

func (d *running) signal(s syscall.Signal) {
	d.w.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.w.t.Fatal(err)
	}
}

// wait returns the exit code, and how long it took.
func (d *running) wait(atMost time.Duration) (code int, took time.Duration) {
	d.w.t.Helper()
	begin := time.Now()
	select {
	case err := <-d.ended:
		d.over = true
		return exitCode(d.w.t, err), time.Since(begin)
	case <-time.After(atMost):
		d.w.t.Fatalf("the process has not ended within %s", atMost)
		return 0, 0
	}
}
