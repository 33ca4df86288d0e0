// Package app puts the example application together and runs it: the database,
// the migrations, the store, the pages and the JSON interface, and inside
// the same process the cascade worker, the quota's sweep and the sweep of files.
//
//	listen ─► connected ─► migrated and verified ─► "listening on …"
//	                                                       │
//	  the context ends (SIGTERM, Ctrl-C), or a part fails  ▼
//	exit ◄─ pool closed ◄─ requests ended, leases given back
//
// The way back takes about two seconds at most. A request that is not finished then is cut off; the toolkit's
// verbs leave nothing half done.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/projects/internal/api"
	"github.com/onerow/onerow/examples/projects/internal/pages"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
	"github.com/onerow/onerow/quota"
)

// Config is how the application runs. Addr and Data are needed; zero values
// elsewhere mean the toolkit's defaults.
type Config struct {
	connect.Server
	// Data is the folder of the files.
	Data string
	// MaxUpload is the largest file, in bytes.
	MaxUpload int64
	// Grace is how long the pages let a deletion be undone.
	Grace time.Duration
	// Batch, Chunk, Lease and Poll are the worker's, see cascade.Config.
	Batch, Chunk int
	Lease, Poll  time.Duration
	// Out gets "listening on http://…" when requests are served, Log everything else.
	Out io.Writer
}

// maxConns is how many connections the pool has: each request needs one at a time, the worker and the two
// sweeps have one each.
const maxConns = 40

// Run runs the application until ctx ends, then stops everything and returns nil.
// Another error says what could not be started, or which part failed.
func Run(ctx context.Context, c Config) (err error) {
	listener, err := connect.Listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	files, err := store.OpenFiles(filepath.Join(c.Data, "blobs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()

	place, err := connect.Open(ctx, c.DSN, "projects", false, maxConns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	c.Log.Info("database", "server", place.Server, "name", place.Name)
	db := place.DB
	if err := store.Migrate(ctx, db); err != nil {
		return err
	}
	s, err := store.New(db, files, c.Log)
	if err != nil {
		return err
	}
	worker, err := cascade.NewWorker(db, store.Plan(), cascade.Config{
		Assets: files, Log: c.Log, Batch: c.Batch, Chunk: c.Chunk, Lease: c.Lease, Poll: c.Poll,
	})
	if err != nil {
		return err
	}
	handler, err := newHandler(s, c)
	if err != nil {
		return err
	}

	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return worker.Run(ctx) })
	parts.Go(func() error { return quota.NewSweeper(db, quota.Config{Log: c.Log}, s.Rule()).Run(ctx) })
	parts.Go(func() error { return s.Sweep(ctx) })
	parts.Go(func() error { return connect.Serve(ctx, listener, handler, 0, c.Log) })
	parts.Go(func() error {
		_, err := fmt.Fprintf(c.Out, "listening on http://%s\n", listener.Addr())
		return err
	})
	return parts.Wait()
}

// newHandler is the whole interface over HTTP.
func newHandler(s *store.Store, c Config) (http.Handler, error) {
	mux := http.NewServeMux()
	api.New(s, c.Log, c.MaxUpload).Register(mux)
	p, err := pages.New(s, c.Log, pages.Options{Grace: c.Grace, MaxUpload: c.MaxUpload})
	if err != nil {
		return nil, err
	}
	p.Register(mux)
	return web.Wrap(mux, c.Log), nil
}
