// Command withserver runs a command on one private server and returns its exit code:
//
//	withserver [-engine MariaDB|MySQL] -- go test ./...
//
// The command finds the server in ONEROW_DSN. The server is found as package devdb says, and closed when the command
// has ended. With -engine it is an error to find the other one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/onerow/onerow/internal/devdb"
)

func main() {
	engine := flag.String("engine", "", "fail unless the server is this engine: MariaDB or MySQL")
	flag.Parse()
	code, err := run(*engine, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withserver:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(engine string, argv []string) (code int, err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	server, err := devdb.Start(ctx, devdb.Options{})
	cancel()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Fprintf(os.Stderr, "withserver: %s %s: %s\n", server.Engine(), server.Version(), server.Source())
	if engine != "" && !strings.EqualFold(engine, server.Engine()) {
		return 1, fmt.Errorf("%s was asked for, and the server is %s %s", engine, server.Engine(), server.Version())
	}
	return server.RunCommand(argv)
}
