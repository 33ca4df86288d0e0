//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// engineFile in a data directory says which engine made it, with its version on the second line.
const engineFile = "onerow-engine"

// initialise makes the data directory unless it is there. It is made under another name and renamed when it
// is complete, so a killed initialisation leaves nothing that looks like a data directory.
func (p *private) initialise(ctx context.Context, log *slog.Logger) error {
	text, err := os.ReadFile(filepath.Join(p.data(), engineFile))
	if err == nil {
		engine, version, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if engine != p.bin.engine() {
			return fmt.Errorf("devdb: %w: %s was made by %s (%s), and %s is %s (%s): set %s to a %s server, or remove the folder with its data",
				ErrOtherEngine, p.data(), engine, version, p.bin.path, p.bin.engine(), p.bin.version, EnvMysqld, engine)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("devdb: %w", err)
	}
	if _, err := os.Stat(p.data()); err == nil {
		return fmt.Errorf("devdb: %s exists but was not made by this package (%s is missing); choose another folder", p.data(), engineFile)
	}
	fresh := p.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("devdb: remove an interrupted initialisation: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	started := time.Now()
	if err := p.initCommand(ctx, fresh); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fresh, engineFile), []byte(p.bin.engine()+"\n"+p.bin.version+"\n"), 0o600); err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	if err := os.Rename(fresh, p.data()); err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	log.Info("data directory initialised", "dir", p.data(), "engine", p.bin.engine(), "took", time.Since(started).Round(time.Millisecond))
	return nil
}

// initCommand runs the engine's own initialisation to its end.
func (p *private) initCommand(ctx context.Context, datadir string) error {
	path, args := p.bin.path, append(p.flags(datadir), "--initialize-insecure")
	if p.bin.engine() == MariaDB {
		script, extra, err := p.bin.installDB()
		if err != nil {
			return err
		}
		path = script
		args = append(p.flags(datadir), "--auth-root-authentication-method=normal", "--skip-test-db")
		args = append(args, extra...)
	}
	if !p.durable {
		args = append(args, "--innodb-doublewrite=OFF", "--loose-innodb-flush-method=nosync")
	}
	for _, arg := range p.args {
		if strings.HasPrefix(arg, "--lower-case-table-names") || strings.HasPrefix(arg, "--lower_case_table_names") { // MySQL: for ever
			args = append(args, arg)
		}
	}
	logPath := filepath.Join(p.dir, "init.log")
	log, err := os.Create(logPath) //nolint:gosec // in the developer's own folder
	if err != nil {
		return fmt.Errorf("devdb: %w", err)
	}
	child, err := spawn(path, args, nil, log, p.lock)
	if err = joinNonNil(err, log.Close()); err != nil {
		return fmt.Errorf("devdb: start %s: %w", path, err)
	}
	select {
	case <-child.done:
		if child.err != nil {
			return fmt.Errorf("devdb: %s could not make a data directory: %w; the end of its log:\n%s", path, child.err, readTail(logPath))
		}
		return nil
	case <-ctx.Done():
		_, err := child.stop(0)
		return joinNonNil(fmt.Errorf("devdb: initialisation was interrupted: %w", ctx.Err()), err)
	}
}

// tempPattern names throw-away folders.
const tempPattern = "onerow-devdb-*"

// sweepAge keeps the sweep away from folders whose owner has not locked them yet.
const sweepAge = time.Minute

// sweep removes throw-away folders that killed runs left behind: those whose lock is free. What can not be
// removed (a stranger's folder) is only logged, since it harms nobody here.
func sweep(log *slog.Logger) {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), tempPattern))
	if err != nil {
		log.Warn("looking for left-over folders", "error", err)
		return
	}
	for _, dir := range dirs {
		if err := sweepOne(dir); err != nil {
			log.Debug("left-over folder stays", "dir", dir, "error", err)
		}
	}
}

func sweepOne(dir string) error {
	path := filepath.Join(dir, "lock")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if time.Since(info.ModTime()) < sweepAge {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // a folder that bears our name
	if err != nil {
		return err
	}
	if err := flock(file); err != nil { // in use
		return errors.Join(err, file.Close())
	}
	return errors.Join(os.RemoveAll(dir), file.Close())
}
