package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// Apply is [Up] for an application's own migrations: what [New] says of them holds, and they may be applied
// from several nodes of a cluster at once.
func Apply(ctx context.Context, db *sql.DB, files fs.FS, table string) error {
	return apply(ctx, db, files, table, sessionLock{})
}

func apply(ctx context.Context, db *sql.DB, files fs.FS, table string, lock sessionLock) error {
	return again(ctx, func() error {
		p, err := provider(db, files, table, lock)
		if err != nil {
			return err
		}
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("migrations: up: %w", inFile(err))
		}
		return nil
	})
}

// inFile names the file of a migration that failed, where goose says its number only.
func inFile(err error) error {
	var failed *goose.PartialError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", path.Base(failed.Failed.Source.Path), failed.Err)
	}
	return err
}

const (
	maxAttempts = 20
	firstPause  = 5 * time.Millisecond
	longPause   = 500 * time.Millisecond
)

// again runs do until nobody refuses it. The lock does not reach other nodes of a cluster, and some servers
// have none. There who loses is refused: 1213 at any statement, on one server where DDL of one table is sent
// twice at once, 3101 where a version is recorded. Each statement may run twice, and goose asks anew which
// versions are missing; its provider looks for the version table only once, so do makes one.
func again(ctx context.Context, do func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := do()
		class := mysqlerr.Classify(err)
		if err == nil || class != mysqlerr.RolledBack && class != mysqlerr.NotHere {
			return err
		}
		if n == maxAttempts {
			return fmt.Errorf("migrations: gave up after %d attempts: %w", n, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("migrations: %w after %d attempts: %w", context.Cause(ctx), n, err)
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // jitter, not a secret
		}
		pause = min(2*pause, longPause)
	}
}
