// Command withcontainer runs a command on one server in a container of the image named by ONEROW_TEST_IMAGE,
// and returns its exit code:
//
//	ONEROW_TEST_IMAGE=mariadb:11 withcontainer -- go test ./...
//
// It is a command of its own so that withserver stays free of testcontainers-go.
//
// Open this package when a command is to run beside another container.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/container"
)

func main() {
	flag.Parse()
	code, err := run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withcontainer:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(argv []string) (code int, err error) {
	image := os.Getenv(devdb.EnvImage)
	if image == "" {
		return 1, fmt.Errorf("%s is not set: it names the image, for example mariadb:11 or mysql:9", devdb.EnvImage)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	server, stop, err := container.Start(ctx, image)
	cancel()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	fmt.Fprintf(os.Stderr, "withcontainer: %s %s: %s\n", server.Engine(), server.Version(), server.Source())
	return server.RunCommand(argv, "")
}
