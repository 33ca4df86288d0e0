package webfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// databases are one for each program; the two workers share one.
var databases = []string{"projects", "helpdesk", "orders", "office", "operated", "calm"}

// world is one run.
type world struct {
	*fuzz.Options
	found      *fuzz.Findings
	dir        string // of the programs and their files
	built      string // where the programs are, if they are not built here
	dbs        map[string]*sql.DB
	programs   []*program
	transports []*http.Transport

	tenants   []*tenant
	desks     []*desk
	customers []*customer
	operators []*operator
	offices   []*office

	marks             marks
	keys, cursors     sync.Map // Idempotency-Keys of all users of the projects, and cursors of their lists
	victims           victims
	endless           sync.Once
	endlessShow       sync.Once
	exploded          sync.Once
	well              atomic.Bool
	served, slowEnded atomic.Int64
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("web", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 6), dbs: map[string]*sql.DB{}, victims: victims{tickets: map[string]int{}, attachments: map[string]int{}}}
	set.StringVar(&w.built, "programs", "", "the `folder` of the programs; default: they are built")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if w.dir, err = os.MkdirTemp("", "onerow-web-"); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	server, err := fuzz.Start(ctx, w.Engine, "--max-connections=400")
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := fuzz.Databases(ctx, server, databases...); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, name := range databases {
		if w.dbs[name], err = fuzz.Admin(server, name); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		defer fuzz.Close(w.dbs[name])
	}
	defer func() {
		for _, p := range w.programs {
			if !p.dead() {
				p.stop(syscall.SIGKILL)
			}
		}
	}()
	if err := w.start(ctx, server); err != nil {
		return err
	}
	if err := w.actors(ctx); err != nil {
		return err
	}
	w.well.Store(true)
	load := w.Length * 4 / 5
	w.attack(ctx, load, true)
	if err := w.judge(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	w.well.Store(false)
	if err := w.attackUnderKills(ctx, w.Length-load); err != nil {
		return err
	}
	return w.settle(context.WithoutCancel(ctx))
}

func (w *world) program(name string) *program {
	for _, p := range w.programs {
		if p.name == name {
			return p
		}
	}
	return nil
}

// actors are those who attack, and have rows that others attack.
func (w *world) actors(ctx context.Context) error {
	for i := range w.Clients {
		t, err := newTenant(ctx, w, w.program("projects"), i)
		if err != nil {
			return err
		}
		d, err := newDesk(ctx, w, w.program("helpdesk"), i%19)
		if err != nil {
			return err
		}
		w.tenants = append(w.tenants, t)
		if i < 19 { // the helpdesk has twenty tenants
			w.desks = append(w.desks, d)
		}
	}
	if to := w.program("tutorial"); to != nil {
		w.offices = []*office{newOffice(w, to, 0), newOffice(w, to, 1)}
	}
	w.customers = newCustomers(w, w.program("orders"))
	w.operators = newOperators(w, w.program("worker"), w.program("local"))
	return nil
}

// attack lets all of them act for that long.
func (w *world) attack(ctx context.Context, long time.Duration, all bool) {
	load, stop := context.WithTimeout(ctx, long)
	defer stop()
	after := context.WithoutCancel(ctx) // a step that has begun is ended
	var running sync.WaitGroup
	act := func(step func(context.Context)) {
		running.Go(func() {
			for load.Err() == nil {
				step(after)
			}
		})
	}
	for _, t := range w.tenants {
		act(t.step)
	}
	for _, d := range w.desks {
		act(d.step)
	}
	for _, o := range w.operators {
		act(o.step)
	}
	for _, o := range w.offices {
		act(o.step)
	}
	if all {
		for _, o := range w.customers {
			act(o.step)
		}
		act(w.rawStep())
		for _, s := range w.slowClients(long) {
			running.Go(func() { s.run(load, w) })
		}
	}
	running.Go(func() {
		for fuzz.Pause(load, 10*time.Second) {
			fmt.Println("  ", w)
		}
	})
	running.Wait()
}

// smuggled is in what no server may take out of another request.
const smuggled = "zqsmuggled"

// rawStep sends broken bytes to one program after the other.
func (w *world) rawStep() func(context.Context) {
	r, n := w.Rand(500), 0
	clients := make([]*client, len(w.programs))
	for i, p := range w.programs {
		clients[i] = w.client(p)
	}
	body := `{"name":"` + smuggled + `"}`
	return func(ctx context.Context) {
		c := clients[n%len(clients)]
		n++
		inner := fmt.Sprintf("POST /api/users HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		c.raw(ctx, r, pick(r, []string{"GET /", "POST /", "POST /api/users", "PUT /x", "GET *", "OPTIONS *", "GET http://[::1", "GET /%", "HEAD /", "POST /login", "DELETE /api/projects/0"}), inner)
		fuzz.Pause(ctx, 20*time.Millisecond)
	}
}

// attackUnderKills ends sessions of the database meanwhile: answers may be 503 then, and nothing else.
func (w *world) attackUnderKills(ctx context.Context, long time.Duration) error {
	load, stop := context.WithTimeout(ctx, long)
	defer stop()
	var killer fuzz.Killer
	var running sync.WaitGroup
	errs := make([]error, 3)
	for i, name := range []string{"projects", "helpdesk", "operated"} {
		running.Go(func() {
			errs[i] = killer.Run(load, w.dbs["calm"], name, w.Rand(uint64(600+i)), 100*time.Millisecond) //nolint:gosec // small
		})
	}
	w.attack(ctx, long, false)
	running.Wait()
	fmt.Printf("   under kills: %v; %d sessions and %d queries killed\n", w, killer.Kills.Load(), killer.Queries.Load())
	return errors.Join(errs...)
}

// settle judges the processes when nobody asks them for anything any more, and ends them.
func (w *world) settle(ctx context.Context) error {
	for _, t := range w.transports {
		t.CloseIdleConnections()
	}
	fuzz.Pause(ctx, time.Second)
	var errs []error
	for _, p := range w.programs {
		errs = append(errs, p.settled(ctx, w.found))
	}
	fmt.Println("soak: web:", w)
	if w.served.Load() == 0 {
		errs = append(errs, errors.New("soak: nothing is shown: there was no answer"))
	}
	return errors.Join(errs...)
}

// String is the progress.
func (w *world) String() string {
	return fmt.Sprintf("%d requests; %d slow clients were ended", w.served.Load(), w.slowEnded.Load())
}
