// Package container runs a MariaDB or MySQL server in a container, through testcontainers-go. Only make
// test-docker, onerowtest/container and this package's own test link it: its dependencies are 76 packages,
// which a test binary that uses a server pays for at every change. Tests reach the server that it starts by
// ONEROW_DSN.
//
// Open this package when a container does not start, or is left behind.
package container

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/onerow/onerow/internal/devdb"
)

const (
	port          = "3306/tcp"
	password      = "onerow" // of a throw-away server that listens on loopback
	startPatience = 2 * time.Minute
	stopPatience  = 30 * time.Second
)

// Start starts a server in a container and returns it with the function that removes it. The image
// must take a root password from MYSQL_ROOT_PASSWORD or MARIADB_ROOT_PASSWORD and the server's flags as its
// command, as the official images of both engines do.
func Start(ctx context.Context, image string) (*devdb.Server, func() error, error) {
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts(port),
		testcontainers.WithEnv(map[string]string{
			"MYSQL_ROOT_PASSWORD":   password,
			"MARIADB_ROOT_PASSWORD": password,
		}),
		testcontainers.WithCmd("--max-connections=600", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=OFF",
			"--innodb-fast-shutdown=2", "--skip-log-bin", "--character-set-server=utf8mb4",
			// Without it the server asks a name server for our address, ten seconds per connection where
			// there is none. (A private MySQL must not have it: it knows root at localhost only. Images let
			// root in from anywhere.)
			"--skip-name-resolve"),
		// The port, not a log line: only the official images print the line that the mysql module waits for.
		testcontainers.WithWaitStrategy(wait.ForListeningPort(port).WithStartupTimeout(startPatience).SkipInternalCheck()),
	)
	stop := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		return testcontainers.TerminateContainer(container, testcontainers.StopContext(ctx))
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("container: start a container of %s: %w", image, err), stop())
	}
	server, err := reach(ctx, container, image)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return server, func() error { return errors.Join(server.Close(), stop()) }, nil
}

// reach connects to the container's server. A listening port is not yet a server that answers: the proxy of
// the container engine listens first, and the official images restart their server once.
func reach(ctx context.Context, container testcontainers.Container, image string) (*devdb.Server, error) {
	addr, err := container.PortEndpoint(ctx, port, "")
	if err != nil {
		return nil, fmt.Errorf("container: container of %s: %w", image, err)
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "root", password, "tcp", addr
	dsn := cfg.FormatDSN()
	cfg.Logger = &mysql.NopLogger{} // cut connections are expected until it is ready
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("container: container of %s: %w", image, err)
	}
	db := sql.OpenDB(connector)
	if err := errors.Join(awaitPing(ctx, db), db.Close()); err != nil {
		return nil, fmt.Errorf("container: the container of %s does not answer: %w", image, err)
	}
	return devdb.Use(ctx, dsn, devdb.EnvImage+"="+image)
}

func awaitPing(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}
