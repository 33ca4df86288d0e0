package devdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// RunCommand runs a command with [EnvDSN] set to this server, and to a database of it unless that is "", with
// this process's standard streams, and returns its exit code (128 + the signal's number if it died of one).
// SIGINT and SIGTERM are passed on, and the command decides when it ends, so that the server outlives it. The
// error says that it could not be run at all.
func (s *Server) RunCommand(argv []string, database string) (exitCode int, err error) {
	if len(argv) == 0 {
		return 0, errors.New("devdb: no command was given")
	}
	// Not bound to a context: the command is told by signals and takes its time to clean up.
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...) //nolint:gosec // the developer's own command line
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), EnvDSN+"="+s.DSN(database))

	interactive := fromTerminal()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("devdb: run %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if sig == os.Interrupt && interactive {
				continue // the terminal has told the command itself; it may take a second one for impatience
			}
			if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return 0, fmt.Errorf("devdb: pass %s on to %s: %w", sig, argv[0], err)
			}
		case err := <-ended:
			return exitCodeOf(err)
		}
	}
}

// fromTerminal says whether standard input is one, whose interrupts reach the command by themselves.
func fromTerminal() bool {
	in, err := os.Stdin.Stat()
	if err != nil || in.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && !os.SameFile(in, null)
}

func exitCodeOf(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, fmt.Errorf("devdb: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
