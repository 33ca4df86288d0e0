//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// EnvGalera is the name of the environment variable with the folder that scripts/get-galera prints: the
// provider, and the scripts by which a node copies another one's data.
const EnvGalera = "ONEROW_GALERA"

// startGalera makes a data directory for the first node only: the others begin empty and copy it, which is what a node
// does that was away for too long.
func (c *Cluster) startGalera(ctx context.Context, o ClusterOptions) error {
	folder := os.Getenv(EnvGalera)
	provider := filepath.Join(folder, "libgalera_smm.so")
	if _, err := os.Stat(provider); err != nil || folder == "" {
		return fmt.Errorf("devdb: no Galera provider: set %s to the folder that scripts/get-galera prints, not %q", EnvGalera, folder)
	}
	var members []string
	for _, n := range c.nodes {
		members = append(members, local(n.group))
	}
	for i, n := range c.nodes {
		// Where the server looks for the script that copies a node's data.
		n.env = append([]string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}, o.Env...)
		n.args = append(n.galeraFlags(provider, members, o.Durable), o.Args...)
		var err error
		if i == 0 {
			err = n.initialise(ctx, o.Log)
			n.args = append(n.args, "--wsrep-new-cluster")
		} else {
			err = os.Mkdir(n.data(), 0o700)
		}
		if err == nil {
			err = n.run(ctx)
		}
		if err != nil {
			return fmt.Errorf("devdb: node %d: %w", i, err)
		}
		if err := c.Rejoin(ctx, i); err != nil {
			return err
		}
		n.args = append(n.galeraFlags(provider, members, o.Durable), o.Args...) // the first one joins like the others from now on
	}
	return nil
}

func (n *node) galeraFlags(provider string, members []string, durable bool) []string {
	flags := []string{
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-log-file-size=16M",
		"--wsrep-on=ON", "--wsrep-provider=" + provider, "--wsrep-cluster-name=onerow",
		"--wsrep-cluster-address=gcomm://" + strings.Join(members, ","),
		"--wsrep-node-name=" + local(n.sql), "--wsrep-node-address=" + local(n.group), "--wsrep-node-incoming-address=" + local(n.sql),
		"--wsrep-sst-method=onerow", "--wsrep-sst-receive-address=" + local(n.sst), "--wsrep-slave-threads=2",
		"--wsrep-provider-options=" + strings.Join([]string{
			"base_host=127.0.0.1", fmt.Sprintf("base_port=%d", n.group), "gmcast.listen_addr=tcp://" + local(n.group),
			"ist.recv_addr=" + local(n.ist), "ist.recv_bind=" + local(n.ist), "gcache.size=32M",
			// A dead node is given up after three seconds, not five: shorter tests.
			"evs.keepalive_period=PT0.5S", "evs.suspect_timeout=PT3S", "evs.inactive_timeout=PT8S", "evs.install_timeout=PT8S",
		}, ";"),
	}
	if !durable {
		flags = append(flags, "--innodb-flush-log-at-trx-commit=2") // a killed process loses nothing
	}
	return flags
}

// What a node says of itself, whether it is a member or not; no tables, no locks.
const (
	sqlGaleraReady = `SHOW STATUS WHERE Variable_name = 'wsrep_ready' AND Value = 'ON'`
	sqlGaleraState = `SHOW STATUS WHERE Variable_name = 'wsrep_local_state_comment' AND Value = 'Synced'`
)

// awaitSynced waits until the node is one of those that decide, and has applied what they have.
func (n *node) awaitSynced(ctx context.Context) error {
	return n.until(ctx, func() (bool, error) {
		for _, query := range []string{sqlGaleraReady, sqlGaleraState} {
			var name, value string
			if err := n.admin.QueryRowContext(ctx, query).Scan(&name, &value); err != nil {
				return false, fmt.Errorf("not synced: %w", err)
			}
		}
		return true, nil
	})
}
