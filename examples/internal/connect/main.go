package connect

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/onerow/onerow/migrations"
)

// Exit codes of Main.
const (
	exitFailed = 1
	exitUsage  = 2
)

// maxConns is how many transactions of an example run at once.
const maxConns = 16

// Main runs an example that prints one page, and returns the exit code: 1 after an error or a signal, 2
// where the command line cannot be read. play gets a fresh database with the toolkit's tables and the
// example's; it is dropped at the end, also after SIGTERM or Ctrl-C. A second signal ends the process at
// once, and the database stays.
func Main(name string, tables []string, play func(ctx context.Context, db *sql.DB) (page string, err error)) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	dsn := flags.String("dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/; default: "+EnvDSN)
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage // flag has printed it
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "%s: it takes flags only, not %q\n", name, flags.Arg(0))
		return exitUsage
	}
	if err := fresh(ctx, *dsn, name, tables, play); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitFailed
	}
	return 0
}

// fresh plays on a new database and prints the page.
func fresh(ctx context.Context, dsn, name string, tables []string, play func(ctx context.Context, db *sql.DB) (string, error)) (err error) {
	d, err := Open(ctx, dsn, name, true, maxConns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := Create(ctx, d.DB, tables); err != nil {
		return err
	}
	page, err := play(ctx, d.DB)
	_, werr := fmt.Print(page)
	return errors.Join(err, werr)
}

// Create gives a database the toolkit's tables and an example's.
func Create(ctx context.Context, db *sql.DB, tables []string) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("make the example's tables: %w", err)
		}
	}
	return nil
}
