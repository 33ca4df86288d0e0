package brokenfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// trouble draws one after the other until ctx ends, and leaves the server well.
func (w *world) trouble(ctx context.Context) error {
	r := w.Rand(1)
	type kind struct {
		name string
		do   func(context.Context, *rand.Rand) error
	}
	kinds := []kind{
		{"kill", w.killed}, {"stop", w.stopped}, {"full", w.full}, {"connections", w.connections},
		{"statements", w.statements}, {"readonly", w.readOnly}, {"locks", w.locks}, {"locks", w.locks},
	}
	kinds = slices.DeleteFunc(kinds, func(k kind) bool { return !slices.Contains(strings.Split(w.only, ","), k.name) })
	if len(kinds) == 0 {
		return fmt.Errorf("soak: -trouble %q is nothing", w.only)
	}
	order := r.Perm(len(kinds))
	for i := 0; fuzz.Pause(ctx, about(r, 2*time.Second)); i++ {
		if i == len(order) {
			i, order = 0, r.Perm(len(kinds))
		}
		kind := kinds[order[i]]
		w.now.Store(kind.name)
		fmt.Println("   trouble:", kind.name)
		err := kind.do(context.WithoutCancel(ctx), r)
		if err = errors.Join(err, w.server.empty()); err != nil {
			if w.server.alive(context.WithoutCancel(ctx)) {
				return fmt.Errorf("soak: %s: %w", kind.name, err)
			}
			fmt.Printf("   the server has died of %s: %.200v\n", kind.name, err)
		}
		if !w.server.alive(context.WithoutCancel(ctx)) {
			if err := w.restart(context.WithoutCancel(ctx), w.server.kill, 0); err != nil {
				return err
			}
		}
		w.now.Store("nothing")
	}
	return nil
}

func about(r *rand.Rand, d time.Duration) time.Duration {
	return d/2 + time.Duration(r.Int64N(int64(d)))
}

// restart ends the server and starts it again.
func (w *world) restart(ctx context.Context, end func() error, down time.Duration) error {
	w.book.note("server", "restarts")
	if err := end(); err != nil {
		fmt.Printf("   the server's end: %.200v\n", err)
	}
	time.Sleep(down)
	return w.server.start(ctx)
}

func (w *world) killed(ctx context.Context, r *rand.Rand) error {
	return w.restart(ctx, w.server.kill, about(r, 500*time.Millisecond))
}

func (w *world) stopped(ctx context.Context, r *rand.Rand) error {
	return w.restart(ctx, w.server.now.Close, about(r, 500*time.Millisecond))
}

// full leaves up to 300 kB of the disk.
func (w *world) full(_ context.Context, r *rand.Rand) error {
	if err := w.server.fill(r.Int64N(300_000)); err != nil {
		return err
	}
	time.Sleep(about(r, 5*time.Second))
	return nil
}

// global sets variables for a while.
func (w *world) global(ctx context.Context, d time.Duration, set, back string) error {
	if _, err := w.server.admin.ExecContext(ctx, set); err != nil {
		return fmt.Errorf("%s: %w", set, err)
	}
	time.Sleep(d)
	if _, err := w.server.admin.ExecContext(ctx, back); err != nil {
		return fmt.Errorf("%s: %w", back, err)
	}
	return nil
}

// connections allows fewer than there are; who has one keeps it, so some are ended.
func (w *world) connections(ctx context.Context, r *rand.Rand) error {
	conn, err := w.server.admin.Conn(ctx) // another one might not be had
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { _ = conn.Close() }() //nolint:errcheck // it may be broken
	var was int
	if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.max_connections").Scan(&was); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	set := fmt.Sprintf("SET GLOBAL max_connections = %d", 10+r.IntN(3))
	if _, err := conn.ExecContext(ctx, set); err != nil {
		return fmt.Errorf("%s: %w", set, err)
	}
	for end := time.Now().Add(about(r, 4*time.Second)); time.Now().Before(end); time.Sleep(time.Duration(r.Int64N(int64(40 * time.Millisecond)))) {
		var id int64
		if conn.QueryRowContext(ctx, "SELECT id FROM information_schema.processlist WHERE user = ? ORDER BY RAND() LIMIT 1", account).Scan(&id) == nil {
			if _, err := conn.ExecContext(ctx, fmt.Sprint("KILL ", id)); err == nil { // or it has gone
				w.book.note("sessions", "killed")
			}
		}
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", was)); err != nil {
		return fmt.Errorf("max_connections = %d: %w", was, err)
	}
	return nil
}

func (w *world) statements(ctx context.Context, r *rand.Rand) error {
	return w.global(ctx, about(r, 4*time.Second), fmt.Sprintf("SET GLOBAL max_prepared_stmt_count = %d", r.IntN(4)), "SET GLOBAL max_prepared_stmt_count = 16382")
}

func (w *world) readOnly(ctx context.Context, r *rand.Rand) error {
	name := "read_only"
	if w.server.now.Engine() == "MySQL" && r.IntN(2) == 0 {
		name = "super_read_only"
	}
	return w.global(ctx, about(r, 4*time.Second), "SET GLOBAL "+name+" = ON", "SET GLOBAL read_only = OFF")
}

// wanted are rows that verbs lock.
var wanted = []string{
	"SELECT * FROM broken.onerow_serial FOR UPDATE", "SELECT * FROM broken.onerow_limit ORDER BY RAND() LIMIT 3 FOR UPDATE",
	"SELECT * FROM broken.project ORDER BY id DESC LIMIT 20 FOR UPDATE", "SELECT * FROM broken.screen ORDER BY id DESC LIMIT 50 FOR UPDATE",
	"SELECT * FROM broken.onerow_job LIMIT 3 FOR UPDATE", "SELECT * FROM broken.onerow_key ORDER BY RAND() LIMIT 20 FOR UPDATE",
	"SELECT * FROM broken.project_archive ORDER BY id DESC LIMIT 20 FOR UPDATE", "SELECT * FROM broken.account FOR UPDATE",
	"UPDATE broken.account SET n = n ORDER BY id DESC", "SELECT * FROM broken.onerow_trash LIMIT 20 FOR UPDATE",
	"SELECT * FROM broken.onerow_request WHERE created_at > UTC_TIMESTAMP(6) - INTERVAL 2 SECOND FOR UPDATE",
}

// locks holds what verbs want, in drawn orders, and rolls back.
func (w *world) locks(ctx context.Context, r *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, about(r, 6*time.Second))
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		r := rand.New(rand.NewPCG(r.Uint64(), 1)) //nolint:gosec // not a secret
		all.Go(func() {
			for ctx.Err() == nil {
				w.hold(context.WithoutCancel(ctx), r)
			}
		})
	}
	all.Wait()
	return nil
}

// hold locks two to four things, one after the other. What it is refused, it was to disturb others with.
func (w *world) hold(ctx context.Context, r *rand.Rand) {
	tx, err := w.server.admin.BeginTx(ctx, &sql.TxOptions{Isolation: []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead}[r.IntN(2)]})
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return
	}
	defer func() { _ = tx.Rollback() }() //nolint:errcheck // as said
	for range 2 + r.IntN(3) {
		if _, err := tx.ExecContext(ctx, wanted[r.IntN(len(wanted))]); err != nil {
			return
		}
		w.book.note("locks", "held")
		time.Sleep(time.Duration(r.Int64N(int64(900 * time.Millisecond))))
	}
}
