// Command withserver runs a command on one private server and returns its exit code:
//
//	withserver [-engine MariaDB|MySQL] [-version 11.] [-clock +1h -faketime LIB] -- go test ./...
//	withserver -dir .data/server -- .cache/bin/projects
//	withserver -database office -- bash
//
// The command finds the server in ONEROW_DSN, and in it the database that -database names, which is made.
// The server is found as package devdb says, and closed when the command has ended. With -engine it is an
// error to find the other one, with -version to find a version that begins otherwise. With -dir the
// server's data is kept there, durably; else it is thrown away. With -clock the server's clock is that far
// ahead of the command's (or behind it), through the library libfaketime: what mixes the two clocks then
// fails.
//
// Open this package when a command is to run beside another server.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/onerow/onerow/internal/devdb"
)

func main() {
	engine := flag.String("engine", "", "fail unless the server is this engine: MariaDB or MySQL")
	version := flag.String("version", "", "fail unless the server's version begins so, for example 11.")
	clock := flag.Duration("clock", 0, "how far the server's clock is ahead, for example -1h")
	library := flag.String("faketime", "", "where libfaketime is, for -clock")
	dir := flag.String("dir", "", "a folder in which the server keeps its data (default: a throw-away one)")
	database := flag.String("database", "", "a database to make, if it is not there, and to name in ONEROW_DSN (default: none)")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, "usage: withserver [flags] -- command\n\nruns the command beside a private server, whose data source name it finds in ONEROW_DSN\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	code, err := run(*engine, *version, *dir, *database, *clock, *library, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withserver:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(engine, version, dir, database string, clock time.Duration, library string, argv []string) (code int, err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	o := devdb.Options{Dir: dir, Durable: dir != ""}
	if clock != 0 {
		o.Env = []string{"LD_PRELOAD=" + library, fmt.Sprintf("FAKETIME=%+ds", int(clock.Seconds()))}
	}
	server, err := devdb.Start(ctx, o)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := ahead(ctx, server, clock); err != nil {
		return 1, err
	}
	if database != "" {
		if err := server.CreateDatabase(ctx, database); err != nil {
			return 1, err
		}
	}
	cancel()
	fmt.Fprintf(os.Stderr, "withserver: %s %s: %s\n", server.Engine(), server.Version(), server.Source())
	if engine != "" && !strings.EqualFold(engine, server.Engine()) {
		return 1, fmt.Errorf("%s was asked for, and the server is %s %s", engine, server.Engine(), server.Version())
	}
	if !strings.HasPrefix(server.Version(), version) {
		return 1, fmt.Errorf("version %s was asked for, and the server is %s %s", version, server.Engine(), server.Version())
	}
	return server.RunCommand(argv, database)
}

// ahead checks that the server's clock is where it was asked to be.
func ahead(ctx context.Context, server *devdb.Server, want time.Duration) error {
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		return err
	}
	var micros int64
	err = db.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").Scan(&micros)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	got := time.Until(time.UnixMicro(micros))
	if off := got - want; off.Abs() > time.Minute {
		return fmt.Errorf("the server's clock is %v ahead, and should be %v: is -faketime right?", got.Round(time.Second), want)
	}
	if want != 0 {
		fmt.Fprintf(os.Stderr, "withserver: the server's clock is %v ahead of the tests\n", got.Round(time.Second))
	}
	return nil
}
