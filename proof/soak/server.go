package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
)

const database = "soak"

// server is a private database server, which may be killed. Its data stays, its port changes with each start.
type server struct {
	dir    string
	engine string // that it must be; "" for any
	args   []string
	log    *slog.Logger
	now    *devdb.Server

	kills []time.Time // when it was killed; one at a time
}

func (s *server) start(ctx context.Context) (err error) {
	if s.now, err = devdb.Start(ctx, devdb.Options{Dir: s.dir, Durable: true, Args: s.args}); err != nil {
		return err
	}
	if s.engine != "" && !strings.EqualFold(s.now.Engine(), s.engine) {
		return errors.Join(fmt.Errorf("soak: the server that was found is %s, not %s; set %s to its program", s.now.Engine(), s.engine, devdb.EnvMysqld), s.close())
	}
	return nil
}

// addr is where the server listens now.
func (s *server) addr() string { return s.now.Config("").Addr }

// signal is for the server's process.
func (s *server) signal(sig os.Signal) error {
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
	if err := process.Signal(sig); err != nil {
		return fmt.Errorf("soak: %v for the server: %w", sig, err)
	}
	return nil
}

// kill sends SIGKILL to the server's process and waits until it is gone.
func (s *server) kill() error {
	s.kills = append(s.kills, time.Now())
	if err := s.signal(os.Kill); err != nil {
		return err
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

// single is a site of one server.
type single struct{ *server }

func (s single) start(ctx context.Context) error {
	if err := s.server.start(ctx); err != nil {
		return err
	}
	return s.now.CreateDatabase(ctx, database)
}

func (s single) name() string                             { return s.now.Engine() + " " + s.now.Version() }
func (s single) nodes() int                               { return 1 }
func (s single) config() *mysql.Config                    { return s.now.Config(database) }
func (s single) upstream(int) string                      { return s.addr() }
func (s single) open() (*sql.DB, error)                   { return pool.Open(s.now.DSN(database)) }
func (s single) differ(context.Context) ([]string, error) { return nil, nil }
func (s single) keep(context.Context, string) error       { return nil } // its data is there
func (s single) deaths() []time.Time                      { return s.kills }

// trouble kills the server now and then, and leads the proxies to where it comes back.
func (s single) trouble(ctx context.Context, soak *soak, r *rand.Rand) error {
	between := soak.every(5, 5*time.Second, 25*time.Second)
	for pause(ctx, about(r, between)) {
		soak.chaos.serverKills.Add(1)
		if err := s.restart(context.WithoutCancel(ctx), time.Duration(r.Int64N(int64(time.Second)))); err != nil {
			return err
		}
		if err := soak.route(); err != nil {
			return err
		}
	}
	return nil
}

func (s single) settle(ctx context.Context, soak *soak) error {
	soak.chaos.serverKills.Add(1)
	return s.restart(ctx, 0)
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
