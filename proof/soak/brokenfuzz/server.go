package brokenfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// disk is how large the file system is.
const disk = 1 << 30

// server is the private server on its small disk. Its port changes with each start.
type server struct {
	dir   string
	admin *sql.DB // of root, who may write where others may not

	mu   sync.Mutex
	now  *devdb.Server
	addr string
}

// flags make the server small, and have it wait for a lock for a second.
var flags = []string{"--innodb-lock-wait-timeout=1", "--loose-innodb-log-file-size=16M", "--loose-innodb-redo-log-capacity=33554432"}

// newServer mounts the disk and starts the server on it.
func newServer(ctx context.Context, engine string) (s *server, err error) {
	if err := fuzz.ChooseEngine(ctx, engine); err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	s = &server{}
	if s.dir, err = os.MkdirTemp("", "onerow-broken-"); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if err := mount(s.dir); err != nil {
		return nil, errors.Join(err, os.Remove(s.dir))
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if got := s.now.Engine(); engine != "" && !strings.EqualFold(got, engine) {
		return nil, errors.Join(fmt.Errorf("soak: the server that was found is %s, not %s; set %s to its program", got, engine, devdb.EnvMysqld), s.close())
	}
	fmt.Printf("soak: %s %s, private, on a disk of %d MB\n", s.now.Engine(), s.now.Version(), disk>>20)
	plain, err := mysql.NewConnector(s.config("root", ""))
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.admin = sql.OpenDB(plain)
	s.admin.SetMaxOpenConns(3)
	s.admin.SetMaxIdleConns(3)
	return s, nil
}

func (s *server) start(ctx context.Context) error {
	now, err := devdb.Start(ctx, devdb.Options{Private: true, Dir: filepath.Join(s.dir, "server"), Durable: true, Args: flags})
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.addr = now, now.Config("").Addr
	return nil
}

// dial leads to where the server listens now.
func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	addr := s.addr
	s.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr) //nolint:wrapcheck // of the driver
}

func (s *server) config(user, database string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr, cfg.DialFunc = user, database, "tcp", "server", s.dial
	return cfg
}

// open opens a guarded pool of an account that may not write where read_only forbids it.
func (s *server) open(change func(*mysql.Config)) (*sql.DB, error) {
	cfg := s.config(account, database)
	change(cfg)
	c, err := pool.NewConnector(cfg)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	return db, nil
}

// kill sends SIGKILL and waits until the process is gone.
func (s *server) kill() error { return fuzz.Kill(filepath.Join(s.dir, "server"), s.now) }

// alive says whether the server answers.
func (s *server) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.admin.PingContext(ctx) == nil
}

func (s *server) ballast() string { return filepath.Join(s.dir, "ballast") }

// fill leaves so many bytes of the disk, about: the server writes meanwhile.
func (s *server) fill(left int64) (err error) {
	f, err := os.Create(s.ballast())
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for range 20 {
		free, err := room(s.dir)
		if err != nil || free <= left {
			return err
		}
		if err = reserve(f, free-left); !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	return nil
}

func (s *server) empty() error {
	if err := os.Remove(s.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("soak: %w", err)
	}
	return nil
}

func (s *server) close() error {
	var err error
	if s.admin != nil {
		fuzz.Close(s.admin)
	}
	if s.now != nil {
		err = s.now.Close()
	}
	return errors.Join(err, unmount(s.dir), os.Remove(s.dir))
}
