package demo

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// ErrDied is the cause with which the context of a process that died has ended.
var ErrDied = errors.New("the process has died")

// Process is a process that works on the database and can die at any statement.
type Process struct {
	// DB is its pool.
	DB *sql.DB

	end   context.CancelCauseFunc
	mu    sync.Mutex
	conns map[net.Conn]bool
	dead  bool
}

// Start starts a process. What it does it should do with the context that is returned.
// Close it, dead or alive.
func (d *Database) Start(ctx context.Context) (context.Context, *Process, error) {
	p := &Process{conns: map[net.Conn]bool{}}
	cfg := d.cfg.Clone()
	cfg.DialFunc = p.dial
	cfg.Logger = &mysql.NopLogger{} // broken connections are what this is about
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, nil, err
	}
	ctx, p.end = context.WithCancelCause(ctx)
	p.DB = sql.OpenDB(connector)
	p.DB.SetMaxOpenConns(maxConns)
	p.DB.SetMaxIdleConns(maxConns)
	return ctx, p, nil
}

// Die closes the connections of the process without a word to the server, lets it open no other ones and
// ends its context.
func (p *Process) Die() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	var errs []error
	for conn := range p.conns {
		errs = append(errs, conn.Close())
	}
	p.conns = nil
	p.end(ErrDied)
	return errors.Join(errs...)
}

// Dead says whether it died.
func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Close frees what the process held here.
func (p *Process) Close() error {
	p.end(nil)
	if err := p.DB.Close(); !p.Dead() {
		return err
	}
	return nil // nobody can take leave of the server on a connection that is cut
}

func (p *Process) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil, errors.Join(ErrDied, conn.Close())
	}
	w := &wire{Conn: conn, p: p}
	p.conns[w] = true
	return w, nil
}

// wire is a connection that its process knows.
type wire struct {
	net.Conn
	p    *Process
	once sync.Once
	err  error
}

// Close closes the connection. A second time it is closed already, which is no error.
func (w *wire) Close() error {
	w.once.Do(func() { w.err = w.Conn.Close() })
	return w.err
}
