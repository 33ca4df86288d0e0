package oscfuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// ptTime is how long pt-online-schema-change may take; it waits for locks that clients hold for seconds.
const ptTime = 2 * time.Minute

// command is pt-online-schema-change for one table, with chunks that are small, though not more than some
// hundred, and a pause between them, so that others work meanwhile.
func (d *changer) command(ctx context.Context, table, alter string) (*exec.Cmd, *bytes.Buffer, error) {
	var rows int
	if err := d.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+ident.Quote(table)).Scan(&rows); err != nil {
		return nil, nil, fmt.Errorf("soak: %w", err)
	}
	cfg := d.server.Config(database)
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, nil, fmt.Errorf("soak: %w", err)
	}
	dsn := fmt.Sprintf("h=%s,P=%s,u=%s,D=%s,t=%s", host, port, cfg.User, database, table)
	if cfg.Passwd != "" {
		dsn += ",p=" + cfg.Passwd
	}
	//nolint:gosec // a tool of our own choice
	cmd := exec.CommandContext(ctx, d.tool, "--alter", alter, "--execute", "--recursion-method", "none", "--charset", "utf8mb4", "--max-load", "Threads_running=500",
		"--critical-load", "Threads_running=1000", "--chunk-size", fmt.Sprint(max(5+d.r.IntN(40), rows/200)), "--chunk-time", "0", "--sleep", fmt.Sprint(float64(d.r.IntN(5))/100),
		"--set-vars", "lock_wait_timeout=2,innodb_lock_wait_timeout=2", "--no-version-check", dsn)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out, nil
}

// pt alters a table. A run that fails has cleaned up after itself, or we do; then it is run again.
func (d *changer) pt(ctx context.Context, table, alter string) error {
	var last string
	for range 4 {
		if done, err := d.altered(ctx, table, alter); done || err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, ptTime)
		cmd, out, err := d.command(limited, table, alter)
		if err == nil {
			err = cmd.Run()
		}
		cancel()
		if err == nil {
			d.count("pt", nil)
			return nil
		}
		last = fmt.Sprintf("%v: %s", err, out)
		d.count("pt", errors.New(last[max(0, len(last)-300):]))
		if err := d.clean(ctx, table); err != nil {
			return err
		}
	}
	return errors.New(last)
}

// altered says whether a run that was killed, or that failed, had swapped the tables before.
func (d *changer) altered(ctx context.Context, table, alter string) (bool, error) {
	words := strings.Fields(alter) // ADD COLUMN x1 …, DROP COLUMN x1, or ENGINE=InnoDB
	if len(words) < 3 {
		return false, nil
	}
	n := 0
	err := d.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?", table, words[2]).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("soak: %w", err)
	}
	return (n == 1) == (words[0] == "ADD"), nil
}

// killed begins to alter a table, and is killed in the middle. What it leaves stays for a while, and is then
// cleaned up.
func (d *changer) killed(ctx context.Context, table, alter string) error {
	cmd, _, err := d.command(ctx, table, alter)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	begun := false
	for range 200 { // its triggers are there before it copies
		if begun, err = d.triggered(ctx, table); begun || err != nil || !fuzz.Pause(ctx, 10*time.Millisecond) {
			break
		}
	}
	fuzz.Pause(ctx, time.Duration(d.r.IntN(400))*time.Millisecond)
	err = errors.Join(err, cmd.Process.Kill())
	_ = cmd.Wait() //nolint:errcheck // it was killed
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		d.count("pt killed too late", nil)
	}
	left, err := d.triggered(ctx, table)
	if err != nil {
		return err
	}
	if left {
		d.count("pt killed", nil)
		if err := d.seen(ctx, table); err != nil {
			return err
		}
		wait := time.Duration(d.r.IntN(1500)) * time.Millisecond
		if d.longer && d.r.IntN(3) == 0 {
			wait = time.Duration(11+d.r.IntN(4)) * time.Second
			d.count("left for long", nil)
		}
		fuzz.Pause(ctx, wait)
	}
	return d.clean(ctx, table)
}

const sqlTriggers = `SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE() AND event_object_table = ?`

// triggered says whether a table has triggers.
func (d *changer) triggered(ctx context.Context, table string) (bool, error) {
	names, err := d.names(ctx, sqlTriggers, table)
	return len(names) > 0, err
}

// clean drops the triggers of a change, then its table, and waits for no lock for longer than others do.
func (d *changer) clean(ctx context.Context, table string) error {
	return d.patient(ctx, func() error {
		triggers, err := d.names(ctx, sqlTriggers, table)
		for _, name := range triggers {
			if err == nil {
				err = execAll(ctx, d.admin, "DROP TRIGGER IF EXISTS "+ident.Quote(name))
			}
		}
		if err == nil {
			err = execAll(ctx, d.admin, "DROP TABLE IF EXISTS "+ident.Quote("_"+table+"_new"))
		}
		if err == nil {
			err = execAll(ctx, d.admin, "DROP TABLE IF EXISTS "+ident.Quote("_"+table+"_old"))
		}
		return err
	})
}

// names are the rows of a query.
func (w *world) names(ctx context.Context, query string, args ...any) (all []string, err error) {
	rows, err := w.admin.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		all = append(all, name)
	}
	return all, rows.Err() //nolint:wrapcheck // it says all
}

// patient calls again what the server refused for a lock.
func (w *world) patient(ctx context.Context, call func() error) (err error) {
	for range 30 {
		if err = call(); err == nil || !refused(err) {
			return err
		}
		w.count("ddl", err)
		fuzz.Pause(ctx, 50*time.Millisecond)
	}
	return err
}
