package adoptfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// quiet is the database of those whose sessions nobody kills.
const quiet = "calm"

// longest is after how many bytes a connection is cut, at most: a page of the backfill is 60 kB.
const longest = 1_500_000

// server is a private server with durable settings, which is killed, and two ways to it that stay: by the one
// connections are cut.
type server struct {
	dir        string
	now        *devdb.Server
	wild, calm *fuzz.Cutter
}

func newServer(ctx context.Context, o *fuzz.Options) (s *server, err error) {
	if err := fuzz.ChooseEngine(ctx, o.Engine); err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	s = &server{}
	if s.dir, err = os.MkdirTemp("", "onerow-adopt-"); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if got := s.now.Engine(); o.Engine != "" && !strings.EqualFold(got, o.Engine) {
		return nil, errors.Join(fmt.Errorf("soak: the server that was found is %s, not %s; set %s to its program", got, o.Engine, devdb.EnvMysqld), s.close())
	}
	fmt.Printf("soak: %s %s, private\n", s.now.Engine(), s.now.Version())
	if s.calm, err = fuzz.NewCutter(s.addr(), o.Rand(1), 0); err == nil {
		s.wild, err = fuzz.NewCutter(s.addr(), o.Rand(2), longest)
	}
	if err == nil {
		err = s.now.CreateDatabase(ctx, quiet)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) data() string { return filepath.Join(s.dir, "server") }

func (s *server) addr() string { return s.now.Config("").Addr }

func (s *server) start(ctx context.Context) error {
	now, err := devdb.Start(ctx, devdb.Options{Private: true, Dir: s.data(), Durable: true})
	if err != nil {
		return fmt.Errorf("soak: the server does not start: %w", err)
	}
	s.now = now
	return nil
}

// restart kills the server and starts it again on its data.
func (s *server) restart(ctx context.Context) error {
	if err := fuzz.Kill(s.data(), s.now); err != nil {
		fmt.Printf("   the server's end: %.200v\n", err)
	}
	if err := s.start(ctx); err != nil {
		fmt.Printf("   %v\n", err) // what follows is found before the round ends with this
		return err
	}
	s.calm.Lead(s.addr())
	s.wild.Lead(s.addr())
	return nil
}

// plain opens a pool of the driver alone.
func (s *server) plain(to *fuzz.Cutter, database, params string) (*sql.DB, error) {
	return sql.Open("mysql", fuzz.DSN(s.now, to.Addr(), database, params)) //nolint:wrapcheck // it says all
}

// guarded opens a pool as a program of the toolkit does.
func (s *server) guarded(to *fuzz.Cutter, database string) (*sql.DB, error) {
	return pool.Open(fuzz.DSN(s.now, to.Addr(), database, "innodb_lock_wait_timeout=5")) //nolint:wrapcheck // it says all
}

func (s *server) close() error {
	var err error
	for _, c := range []*fuzz.Cutter{s.wild, s.calm} {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return errors.Join(err, s.now.Close(), os.RemoveAll(s.dir))
}
