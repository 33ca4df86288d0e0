// Package container runs the tests of an application on a server in a container, where Docker is at hand and
// no server is installed:
//
//	func TestMain(m *testing.M) { container.Main(m, "mariadb:11") }
//
// The tests use package onerowtest as on any other server. The image must take the root password from
// MARIADB_ROOT_PASSWORD or MYSQL_ROOT_PASSWORD and the server's flags as its command, as the official images
// of both engines do. It is a package of its own, for it links testcontainers-go.
//
// Open this package when another container engine is to be used.
package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/container"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// Main starts a container of the image, runs the tests of a package on its server, removes it and exits.
// Where ONEROW_DSN names a server that runs already, the tests use that, and no container is started. It is
// for TestMain.
func Main(m *testing.M, image string) {
	stop := func() error { return nil }
	if os.Getenv(devdb.EnvDSN) == "" {
		server, remove, err := container.Start(context.Background(), image)
		if err == nil {
			stop = remove
			err = os.Setenv(devdb.EnvDSN, server.DSN(""))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, errors.Join(fmt.Errorf("onerowtest: %w", err), stop()))
			fmt.Fprintln(os.Stderr, "onerowtest: start Docker, or set "+devdb.EnvDSN+" to a server that runs: user:password@tcp(127.0.0.1:3306)/")
			os.Exit(1)
		}
	}
	code := m.Run()
	if err := errors.Join(dbtest.Stop(), stop()); err != nil {
		fmt.Fprintln(os.Stderr, "onerowtest: stopping the server:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}
