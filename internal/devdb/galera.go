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

// startGalera makes one data directory, which the other nodes get a copy of: as if all had been there
// before, so that nothing has to be transferred.
func (c *Cluster) startGalera(ctx context.Context, o ClusterOptions) error {
	folder := os.Getenv(EnvGalera)
	provider := filepath.Join(folder, "libgalera_smm.so")
	if _, err := os.Stat(provider); err != nil || folder == "" { //nolint:gosec // the folder is the caller's to choose
		return fmt.Errorf("devdb: no Galera provider: set %s to the folder that scripts/get-galera prints, not %q", EnvGalera, folder)
	}
	var members []string
	for _, n := range c.nodes {
		members = append(members, local(n.group))
	}
	first := c.nodes[0]
	if err := first.initialise(ctx, o.Log); err != nil {
		return err
	}
	for i, n := range c.nodes {
		if i > 0 {
			if err := os.CopyFS(n.data(), os.DirFS(first.data())); err != nil {
				return fmt.Errorf("devdb: copy a data directory: %w", err)
			}
		}
		// Each change of the group counts as one write.
		state := fmt.Sprintf(galeraState, i, max(0, 1-i))
		if err := os.WriteFile(filepath.Join(n.data(), "grastate.dat"), []byte(state), 0o600); err != nil {
			return fmt.Errorf("devdb: %w", err)
		}
	}
	for i, n := range c.nodes {
		// Where the server looks for the script that copies a node's data.
		n.env = append([]string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}, o.Env...)
		n.args = append(n.galeraFlags(provider, members, o.Durable), o.Args...)
		joins := n.args
		if i == 0 {
			n.args = append(n.args[:len(n.args):len(n.args)], "--wsrep-new-cluster")
		}
		if err := n.run(ctx); err != nil {
			return fmt.Errorf("devdb: node %d: %w", i, err)
		}
		n.args = joins // from now on the first one joins like the others
		if err := c.Rejoin(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// galeraState is what a node wrote down that ended cleanly: behind which write, and whether it may begin
// the group.
const galeraState = `# GALERA saved state
version: 2.1
uuid:    6f6e6572-6f77-11f0-8000-6f6e65726f77
seqno:   %d
safe_to_bootstrap: %d
`

func (n *node) galeraFlags(provider string, members []string, durable bool) []string {
	flags := []string{
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-log-file-size=16M",
		"--wsrep-on=ON", "--wsrep-provider=" + provider, "--wsrep-cluster-name=onerow",
		"--wsrep-cluster-address=gcomm://" + strings.Join(members, ","),
		"--wsrep-node-name=" + local(n.sql), "--wsrep-node-address=" + local(n.group), "--wsrep-node-incoming-address=" + local(n.sql),
		"--wsrep-sst-method=onerow", "--wsrep-sst-receive-address=" + local(n.sst), "--wsrep-slave-threads=2",
		"--innodb-lock-wait-timeout=5", // docs/CLUSTERS.md says why
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
