package dbtest

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

// EnvImage is the environment variable with the image of a MariaDB or MySQL server.
const EnvImage = "ONEROW_TEST_IMAGE"

const (
	containerPort     = "3306/tcp"
	containerPassword = "onerow" // of a throw-away server that listens on loopback
	containerPatience = 2 * time.Minute
	stopPatience      = 30 * time.Second
)

// StartContainer starts a server in a container and returns it with the function that removes it. The image
// must take a root password from MYSQL_ROOT_PASSWORD or MARIADB_ROOT_PASSWORD and the server's flags as its
// command, as the official images of both engines do.
func StartContainer(ctx context.Context, image string) (*devdb.Server, func() error, error) {
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts(containerPort),
		testcontainers.WithEnv(map[string]string{
			"MYSQL_ROOT_PASSWORD":   containerPassword,
			"MARIADB_ROOT_PASSWORD": containerPassword,
		}),
		testcontainers.WithCmd("--max-connections=600", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=OFF",
			"--innodb-fast-shutdown=2", "--skip-log-bin", "--character-set-server=utf8mb4",
			// Without it the server asks a name server for our address, ten seconds per connection where
			// there is none. (A private MySQL must not have it: it knows root at localhost only. Images let
			// root in from anywhere.)
			"--skip-name-resolve"),
		// The port, not a log line: only the official images print the line that the mysql module waits for.
		testcontainers.WithWaitStrategy(wait.ForListeningPort(containerPort).WithStartupTimeout(containerPatience).SkipInternalCheck()),
	)
	stop := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		return testcontainers.TerminateContainer(container, testcontainers.StopContext(ctx))
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("dbtest: start a container of %s: %w", image, err), stop())
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
	addr, err := container.PortEndpoint(ctx, containerPort, "")
	if err != nil {
		return nil, fmt.Errorf("dbtest: container of %s: %w", image, err)
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "root", containerPassword, "tcp", addr
	dsn := cfg.FormatDSN()
	cfg.Logger = &mysql.NopLogger{} // cut connections are expected until it is ready
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("dbtest: container of %s: %w", image, err)
	}
	db := sql.OpenDB(connector)
	if err := errors.Join(awaitPing(ctx, db), db.Close()); err != nil {
		return nil, fmt.Errorf("dbtest: the container of %s does not answer: %w", image, err)
	}
	return devdb.Use(ctx, dsn, EnvImage+"="+image)
}

func awaitPing(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, containerPatience)
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
