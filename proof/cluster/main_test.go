//go:build cluster

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
)

// EnvCluster is the name of the environment variable with the kind of cluster: galera or group.
const EnvCluster = "ONEROW_CLUSTER"

// nodes is the cluster of all tests.
var nodes *devdb.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c, err := devdb.StartCluster(ctx, devdb.ClusterKind(os.Getenv(EnvCluster)), devdb.ClusterOptions{Log: log})
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s=%q: %v\n", EnvCluster, os.Getenv(EnvCluster), err)
		return 1
	}
	nodes = c
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil { // nodes die here
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}
