package webfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema"
)

// databases are one for each program; the two workers share one.
var databases = []string{"projects", "helpdesk", "orders", "office", "operated", "calm"}

// world is one run.
type world struct {
	*fuzz.Options
	found      *fuzz.Findings
	dir        string // of the programs and their files
	dbs        map[string]*sql.DB
	programs   []*program
	transports []*http.Transport

	tenants   []*tenant
	desks     []*desk
	customers []*customer
	operators []*operator
	offices   []*office

	marks             marks
	keys              sync.Map // Idempotency-Keys of all users of the projects
	victims           victims
	endless           sync.Once
	endlessShow       sync.Once
	well              atomic.Bool
	served, slowEnded atomic.Int64
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("web", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 6), dbs: map[string]*sql.DB{}, victims: victims{tickets: map[string]int{}, attachments: map[string]int{}}}
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

// plan is what the two workers work; its keys are texts, which the page shows.
var plan = schema.Plan{Resources: []schema.Resource{{Name: "shelf", Archive: "shelf_archive", IDType: "VARCHAR(200)", Owner: "owner_id"}, {Name: "book", IDType: "VARCHAR(200)", Parent: schema.Parent{Resource: "shelf", Column: "shelf_id"}}}}

const planYAML = `resources:
  - {name: shelf, archive: shelf_archive, id_type: VARCHAR(200), owner: owner_id}
  - {name: book, id_type: VARCHAR(200), parent: {resource: shelf, column: shelf_id}}
`

// start builds and starts the programs.
func (w *world) start(ctx context.Context, server *devdb.Server) error {
	admin := w.dbs["operated"]
	if err := migrations.Up(ctx, admin); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, statement := range plan.DDL() {
		if _, err := admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("soak: %w: %s", err, statement)
		}
	}
	file := filepath.Join(w.dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(planYAML), 0o600); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	data := func(name string) string { return filepath.Join(w.dir, name+"-data") }
	for _, p := range []struct {
		name, path, database string
		env, args            []string
	}{
		{"projects", "examples/projects", "projects", nil, []string{"-v", "-addr", "127.0.0.1:0", "-data", data("projects"), "-max-upload", fmt.Sprint(maxUpload)}},
		{"helpdesk", "examples/helpdesk", "helpdesk", nil, []string{"-addr", "127.0.0.1:0", "-data", data("helpdesk"), "-rows", "400"}},
		{"orders", "examples/orders", "orders", nil, []string{"-v", "-serve", "-addr", "127.0.0.1:0"}},
		{"worker", "cmd/cascade-worker", "operated", []string{"ONEROW_HTTP_TOKEN=ann:" + secret}, []string{"run", "--plan", file, "--http", "127.0.0.1:0", "--name", "<" + marker + ">"}},
		{"local", "cmd/cascade-worker", "operated", nil, []string{"run", "--plan", file, "--http", "127.0.0.1:0", "--name", "b"}},
	} {
		bin, err := build(ctx, w.dir, p.path)
		if err != nil {
			return err
		}
		one, err := start(ctx, p.name, bin, append(p.env, devdb.EnvDSN+"="+server.DSN(p.database)), p.args...)
		if err != nil {
			return err
		}
		w.programs = append(w.programs, one)
		if one.base, err = one.measure(); err != nil {
			return err
		}
		fmt.Printf("   %s listens on %s\n", p.name, one.url)
	}
	return w.startTutorial(ctx, server)
}

// startTutorial starts the one program that always listens on the same port, if nobody else does.
func (w *world) startTutorial(ctx context.Context, server *devdb.Server) error {
	const address = "127.0.0.1:8082"
	free, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		fmt.Printf("   the tutorial is left out: %v\n", err)
		return nil
	}
	bin, err := build(ctx, w.dir, "examples/tutorial")
	if err = errors.Join(err, free.Close()); err != nil {
		return err
	}
	dsn := server.DSN("office")
	if out, err := exec.CommandContext(ctx, bin, dsn, "setup").CombinedOutput(); err != nil { //nolint:gosec // our own
		return fmt.Errorf("soak: tutorial setup: %w: %s", err, out)
	}
	one, err := start(ctx, "tutorial", bin, nil, dsn)
	if err != nil {
		return err
	}
	w.programs = append(w.programs, one)
	one.base, err = one.measure()
	return err
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
		for _, s := range w.slowClients() {
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
