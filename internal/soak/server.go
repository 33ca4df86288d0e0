package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"

	"github.com/onerow/onerow/internal/devdb"
)

const database = "soak"

// server is the private database server, which may be killed. Its data stays, its port changes with each
// start.
type server struct {
	dir string
	log *slog.Logger
	now *devdb.Server

	kills []time.Time // when it was killed; one at a time
}

// chooseEngine sets the environment so that devdb starts that engine privately.
func chooseEngine(ctx context.Context, engine string) error {
	if err := os.Unsetenv(devdb.EnvDSN); err != nil { // a server that is killed must be our own
		return err
	}
	if engine != "mysql" || os.Getenv(devdb.EnvMysqld) != "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "scripts/get-mysql")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("soak: scripts/get-mysql, run in the repository's root, or set %s to a mysqld: %w", devdb.EnvMysqld, err)
	}
	return os.Setenv(devdb.EnvMysqld, strings.TrimSpace(string(out)))
}

func startServer(ctx context.Context, dir, engine string, log *slog.Logger) (*server, error) {
	s := &server{dir: dir, log: log}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if engine != "" && !strings.EqualFold(s.now.Engine(), engine) {
		return nil, errors.Join(fmt.Errorf("soak: the server that was found is %s, not %s; set %s to its program", s.now.Engine(), engine, devdb.EnvMysqld), s.close())
	}
	return s, nil
}

func (s *server) start(ctx context.Context) (err error) {
	s.now, err = devdb.Start(ctx, devdb.Options{Dir: s.dir, Durable: true})
	return err
}

// addr is where the server listens now.
func (s *server) addr() string { return s.now.Config("").Addr }

// kill sends SIGKILL to the server's process and waits until it is gone.
func (s *server) kill() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "server.pid"))
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("soak: server.pid: %w", err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	s.kills = append(s.kills, time.Now())
	if err := process.Kill(); err != nil {
		return fmt.Errorf("soak: kill the server: %w", err)
	}
	return s.now.Close()
}

// restart kills the server and starts it again on the same data.
func (s *server) restart(ctx context.Context, down time.Duration) error {
	if err := s.kill(); err != nil {
		return err
	}
	if !pause(ctx, down) {
		ctx = context.WithoutCancel(ctx) // it is wanted for the check
	}
	return s.start(ctx)
}

func (s *server) close() error {
	if s.now == nil {
		return nil
	}
	return s.now.Close()
}

// open is a pool that goes to the server directly.
func (s *server) open() (*sql.DB, error) { return onerow.Open(s.now.DSN(database)) }

// dsn is the data source name through a proxy. A read that gets no answer must end, because nothing else ends
// the wait for the answer to COMMIT.
func (s *server) dsn(proxy, isolation string) string {
	cfg := s.now.Config(database)
	cfg.Addr = proxy
	cfg.Params[s.now.IsolationVariable()] = "'" + isolation + "'"
	cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = 2*time.Second, 5*time.Second, 5*time.Second
	return cfg.FormatDSN()
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
