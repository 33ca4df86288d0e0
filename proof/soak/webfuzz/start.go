package webfuzz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

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
		bin, err := build(ctx, w.dir, w.built, p.path)
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
	bin, err := build(ctx, w.dir, w.built, "examples/tutorial")
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
