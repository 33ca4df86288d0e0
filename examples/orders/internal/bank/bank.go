// Package bank is the payment service of the example: an HTTP server of its own that charges whoever asks, as
// often as it is asked. It knows no idempotency keys, so its ledger shows what the shop did.
//
//	POST /charges {"reference","amount","card"}   201 {"id"}, 402 declined, 500, no answer, a late one
//	GET  /charges?reference=…                     the charges that it made, for whoever has to find out
//
// How it answers depends on the card, see [Cards]. A charge whose client did not wait for the answer is told
// to the shop as a notice (a web hook), sent again until the shop takes it. [Bank.Down] makes the bank
// unreachable.
package bank

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/onerow/onerow"
)

// Config is how the bank runs.
type Config struct {
	// DB has the ledger.
	DB onerow.DB
	// Notices is the URL of the shop that late answers go to, Secret what they are signed with.
	Notices, Secret string
	// Hold is how long the card Held waits. Default 2 seconds.
	Hold time.Duration
	// Log gets what the bank does.
	Log *slog.Logger
}

// Bank is a running payment service.
type Bank struct {
	cfg  Config
	addr string
	// life ends with Close and ends what waits.
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup // the server and the notices

	mu     sync.Mutex
	server *http.Server // nil while it is down
	asked  map[string]int
	held   map[string]*hold
}

// hold is a charge that waits.
type hold struct {
	arrived, let  chan struct{}
	arrive, letgo sync.Once
}

// Start starts the bank on a free port of the loopback interface. It runs until Close, whatever
// becomes of ctx.
func Start(ctx context.Context, cfg Config) (*Bank, error) {
	if cfg.Hold == 0 {
		cfg.Hold = 2 * time.Second
	}
	b := &Bank{cfg: cfg, addr: "127.0.0.1:0", asked: map[string]int{}, held: map[string]*hold{}}
	b.life, b.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := b.Up(ctx); err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

// URL is the bank's address.
func (b *Bank) URL() string { return "http://" + b.addr }

// Up makes the bank reachable at its address.
func (b *Bank) Up(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", b.addr)
	if err != nil {
		return fmt.Errorf("bank: cannot listen on %s: %w", b.addr, err)
	}
	b.addr = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", b.charge)
	mux.HandleFunc("GET /charges", b.list)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(b.cfg.Log.Handler(), slog.LevelDebug)}
	b.server = server
	b.work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			b.cfg.Log.Error("bank: it does not serve any more", "error", err)
		}
	})
	return nil
}

// Down makes the bank unreachable: connections to it are refused. Charges that it works on are finished.
func (b *Bank) Down(ctx context.Context) error {
	b.mu.Lock()
	server := b.server
	b.server = nil
	b.mu.Unlock()
	if server == nil {
		return nil
	}
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("bank: %w", err), server.Close())
	}
	return nil
}

// stopTime is how long charges may go on after Close.
const stopTime = time.Second

// Close stops the bank and waits until nothing of it runs. A notice that was not taken is given up.
func (b *Bank) Close() error {
	b.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.life), stopTime)
	defer cancel()
	err := b.Down(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // they were cut off
	}
	b.work.Wait()
	return err
}

// hold returns the waiting charge of a reference, made by whoever comes first.
func (b *Bank) hold(reference string) *hold {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[reference]
	if h == nil {
		h = &hold{arrived: make(chan struct{}), let: make(chan struct{})}
		b.held[reference] = h
	}
	return h
}

// Arrived waits until a charge with the card Held has arrived.
func (b *Bank) Arrived(ctx context.Context, reference string) error {
	select {
	case <-b.hold(reference).arrived:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("bank: no charge of %q arrived: %w", reference, ctx.Err())
	}
}

// Let lets a charge with the card Held go on, now or when it comes.
func (b *Bank) Let(reference string) {
	h := b.hold(reference)
	h.letgo.Do(func() { close(h.let) })
}

// wait is the waiting of the card Held.
func (b *Bank) wait(reference string) {
	h := b.hold(reference)
	h.arrive.Do(func() { close(h.arrived) })
	timer := time.NewTimer(b.cfg.Hold)
	defer timer.Stop()
	select {
	case <-h.let:
	case <-timer.C:
	case <-b.life.Done():
	}
}
