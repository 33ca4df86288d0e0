package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// peers are the servers beside which the database is measured; nil clients where they were not asked for.
type peers struct {
	*network
	redis     *redis.Client
	postgres  *pgxpool.Pool
	dir       string // of their data
	archiver  string // pt-archiver, a program
	processes []*exec.Cmd
}

// startPeers starts Redis, which writes each command to its log and flushes it every second, and
// PostgreSQL, as they are after installation.
func startPeers(ctx context.Context, programs string, n *network) (_ *peers, err error) {
	p := &peers{network: n}
	if programs == "" {
		return p, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.dir, err = os.MkdirTemp("", "bench-peers-"); err != nil {
		return nil, err
	}
	p.archiver = filepath.Join(programs, "pt-archiver")
	user := &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		const nobody = 65534
		user.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(p.dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	redisPort, postgresPort, err := twoPorts()
	if err != nil {
		return nil, err
	}
	redisAddr := net.JoinHostPort("127.0.0.1", redisPort)
	if err := p.start(user, filepath.Join(programs, "redis-server"), "--port", redisPort, "--bind", "127.0.0.1", "--dir", p.dir, "--appendonly", "yes", "--save", ""); err != nil {
		return nil, err
	}
	data := filepath.Join(p.dir, "postgres")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C") //nolint:gosec // the folder that whoever runs it names
	initdb.SysProcAttr = user
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := p.start(user, filepath.Join(programs, "postgres"), "-D", data, "-p", postgresPort, "-k", p.dir, "-c", "listen_addresses=127.0.0.1"); err != nil {
		return nil, err
	}
	p.redis = redis.NewClient(&redis.Options{Addr: redisAddr, PoolSize: 64, Dialer: n.dial})
	if p.postgres, err = pgxpool.New(ctx, "postgres://bench@127.0.0.1:"+postgresPort+"/postgres?pool_max_conns=32"); err != nil {
		return nil, err
	}
	return p, until(ctx, func() error { return errors.Join(p.redis.Ping(ctx).Err(), p.postgres.Ping(ctx)) })
}

func (p *peers) start(user *syscall.SysProcAttr, program string, args ...string) error {
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // the folder that whoever runs it names; close ends it
	cmd.SysProcAttr = user
	if err := cmd.Start(); err != nil {
		return err
	}
	p.processes = append(p.processes, cmd)
	return nil
}

// close ends the servers, and throws away what they had.
func (p *peers) close() error {
	var errs []error
	if p.redis != nil {
		errs = append(errs, p.redis.Close())
	}
	if p.postgres != nil {
		p.postgres.Close()
	}
	for _, cmd := range p.processes {
		errs = append(errs, cmd.Process.Signal(syscall.SIGINT))
		if err := cmd.Wait(); err != nil && cmd.ProcessState == nil { // how it ended is of no interest
			errs = append(errs, err)
		}
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}

func twoPorts() (first, second string, err error) {
	var ports []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
		if err != nil {
			return "", "", err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)) //nolint:errcheck,forcetypeassert // it is one of TCP
	}
	return ports[0], ports[1], nil
}

// until asks again until there is no error, for half a minute.
func until(ctx context.Context, ask func() error) error {
	for end := time.Now().Add(30 * time.Second); ; {
		err := ask()
		if err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
