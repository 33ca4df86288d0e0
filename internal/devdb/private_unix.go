//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	startPatience = 90 * time.Second // crash recovery of a kept folder takes its time
	stopPatience  = 10 * time.Second
	maxSocketPath = 100 // sun_path has 104 bytes on some systems, and servers add to the name
)

// private is a server that this process started.
type private struct {
	bin       binary
	dir       string // holds lock, log and data
	throwAway bool
	durable   bool
	env       []string
	args      []string
	sockDir   string // a short folder made for the socket; empty: the socket is in dir
	socket    string
	addr      string
	patience  time.Duration // to start; 0: startPatience
	port      int           // that it must listen on, as the member of a cluster that others know; 0: any
	lock      *dirLock
	proc      *proc
}

// startPrivate takes the folder, makes the data directory if it has none, and starts the server.
func startPrivate(ctx context.Context, bin binary, o Options) (_ *private, err error) {
	p, err := takeFolder(ctx, bin, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if err = p.initialise(ctx, o.Log); err != nil {
		return nil, err
	}
	// The port is free when it is chosen, and may be taken when the server wants it.
	for try := 1; ; try++ {
		err = p.run(ctx)
		if err == nil || try == 3 || !strings.Contains(err.Error(), "port") {
			return p, err
		}
		o.Log.Info("trying another port", "error", err)
	}
}

// takeFolder makes the folder of a server that is not started yet, and locks it.
func takeFolder(ctx context.Context, bin binary, o Options) (_ *private, err error) {
	p := &private{bin: bin, durable: o.Durable, env: o.Env, args: o.Args}
	if o.Dir == "" {
		p.throwAway = true
		sweep(o.Log)
		if p.dir, err = os.MkdirTemp("", tempPattern); err != nil {
			return nil, fmt.Errorf("devdb: %w", err)
		}
	} else {
		if p.dir, err = filepath.Abs(o.Dir); err != nil {
			return nil, fmt.Errorf("devdb: %w", err)
		}
		if err = os.MkdirAll(p.dir, 0o700); err != nil {
			return nil, fmt.Errorf("devdb: %w", err)
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if p.lock, err = lockDir(ctx, p.dir, stopPatience); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(p.tmp(), 0o700); err != nil {
		return nil, fmt.Errorf("devdb: %w", err)
	}
	if err = p.chooseSocket(); err != nil {
		return nil, err
	}
	return p, nil
}

// chooseSocket keeps the socket's path short: a unix socket has room for about a hundred bytes.
func (p *private) chooseSocket() error {
	p.socket = filepath.Join(p.dir, "server.sock")
	if len(p.socket) < maxSocketPath {
		return nil
	}
	var err error
	if p.sockDir, err = os.MkdirTemp("/tmp", "onerow-sock-"); err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	p.socket = filepath.Join(p.sockDir, "s")
	return nil
}

func (p *private) data() string { return filepath.Join(p.dir, "data") }

// flags that both initialisation and the running server take.
func (p *private) flags(datadir string) []string {
	// A MariaDB that starts deletes what looks like its own temporary tables, so two
	// servers must not share the folder for them: the other one crashes.
	flags := []string{"--no-defaults", "--datadir=" + datadir, "--tmpdir=" + p.tmp()}
	if os.Geteuid() == 0 {
		flags = append(flags, "--user=root") // either server refuses to run as root unless told
	}
	return flags
}

// tmp is the folder for the server's temporary files.
func (p *private) tmp() string { return filepath.Join(p.dir, "tmp") }

func (p *private) serverFlags(port int) []string {
	flags := append(p.flags(p.data()),
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), "--socket="+p.socket,
		"--pid-file="+filepath.Join(p.dir, "server.pid"),
		"--max-connections=600", "--innodb-buffer-pool-size=128M", "--skip-log-bin",
		"--character-set-server=utf8mb4",
	)
	if p.bin.engine() == MySQL {
		// A COUNT(*) of a whole table makes four threads, which for a small table take longer than all else.
		flags = append(flags, "--mysqlx=OFF", "--secure-file-priv=", "--innodb-parallel-read-threads=1")
	}
	if !p.durable {
		flags = append(flags, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-doublewrite=OFF",
			"--loose-innodb-flush-method=nosync",
			"--table-definition-cache=4000") // the schemas of many tests at once: a table that is closed is read anew, its statistics too
		if p.bin.engine() == MySQL {
			// Measuring each statement, and handing the log over to threads of its own, took a fifth of the
			// processors. What tests read of performance_schema (sessions, locks, counters) is there without
			// instruments.
			flags = append(flags, "--performance-schema-instrument=%=OFF", "--innodb-log-writer-threads=OFF")
		}
	}
	if p.throwAway {
		flags = append(flags, "--innodb-fast-shutdown=2") // nobody will read these pages again
	}
	return append(flags, p.args...)
}

// run starts the server and waits until it answers on its socket, where nobody else can be.
func (p *private) run(ctx context.Context) error {
	port, err := p.port, error(nil)
	if port == 0 {
		if port, err = freePort(); err != nil {
			return err
		}
	}
	p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	logPath := filepath.Join(p.dir, "server.log")
	log, err := os.Create(logPath) //nolint:gosec // in the developer's own folder
	if err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	p.proc, err = spawn(p.bin.path, p.serverFlags(port), p.env, log, p.lock)
	if err = joinNonNil(err, log.Close()); err != nil {
		return fmt.Errorf("devdb: start %s: %w", p.bin.path, err)
	}
	cfg := p.config()
	cfg.Net, cfg.Addr = "unix", p.socket
	cfg.Logger = &mysql.NopLogger{} // refused connections are expected until it is ready
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	db := sql.OpenDB(connector)
	err = p.await(ctx, db, logPath)
	return joinNonNil(err, db.Close())
}

func (p *private) await(ctx context.Context, db *sql.DB, logPath string) error {
	patience := p.patience
	if patience == 0 {
		patience = startPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-p.proc.done:
			return fmt.Errorf("devdb: %s ended while it started: %w; the end of its log:\n%s", p.bin.path, orEnded(p.proc.err), readTail(logPath))
		case <-ctx.Done():
			return fmt.Errorf("devdb: %s did not answer in time: %w; the end of its log:\n%s", p.bin.path, ctx.Err(), readTail(logPath))
		case <-tick.C:
		}
	}
}

func (p *private) config() *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", p.addr
	return cfg
}

// stop ends the server, gives the folder back and removes what is not to be kept. It also cleans up a start
// that failed halfway.
func (p *private) stop() error {
	var errs []error
	if p.proc != nil {
		killed, err := p.proc.stop(stopPatience)
		if killed {
			errs = append(errs, fmt.Errorf("devdb: the server did not end within %s and was killed", stopPatience))
		}
		errs = append(errs, err)
	}
	if p.sockDir != "" {
		errs = append(errs, os.RemoveAll(p.sockDir))
	}
	if p.throwAway {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	if p.lock != nil {
		errs = append(errs, p.lock.unlock())
	}
	return errors.Join(errs...)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("devdb: no free loopback port: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("devdb: %w", err)
	}
	if !ok {
		return 0, fmt.Errorf("devdb: %s is no TCP address", l.Addr())
	}
	return addr.Port, nil
}

func readTail(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // our own log
	if err != nil {
		return err.Error()
	}
	return tail(string(text), 15)
}

// orEnded names a clean exit that came too early.
func orEnded(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// joinNonNil is errors.Join that keeps a single error as it is.
func joinNonNil(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}
