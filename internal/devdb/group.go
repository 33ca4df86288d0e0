//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// groupName is the same for all clusters of tests: the ports tell them apart.
const groupName = "6f6e6572-6f77-4000-8000-6f6e65726f77"

// startGroup makes one data directory, which the other nodes get a copy of, and starts the servers; the
// first one makes the group, the others join.
func (c *Cluster) startGroup(ctx context.Context, o ClusterOptions) error {
	var members []string
	for _, n := range c.nodes {
		members = append(members, local(n.group))
	}
	first := c.nodes[0]
	if err := first.initialise(ctx, o.Log); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(first.data(), "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) { // each server gives itself an id
		return fmt.Errorf("devdb: %w", err)
	}
	for _, n := range c.nodes[1:] {
		if err := os.CopyFS(n.data(), os.DirFS(first.data())); err != nil {
			return fmt.Errorf("devdb: copy a data directory: %w", err)
		}
	}
	err := c.each(func(i int, n *node) error {
		n.args = append(n.groupFlags(i+1, members, o.Durable), o.Args...)
		if err := n.run(ctx); err != nil {
			return err
		}
		return n.prepareGroup(ctx)
	})
	if err != nil {
		return err
	}
	// The three statements run on one session: see newNode.
	if err := first.exec(ctx, sqlBootstrapOn, sqlStartGroup, sqlBootstrapOff); err != nil {
		return fmt.Errorf("devdb: the first node makes no group: %w; the end of its log:\n%s", err, first.logTail())
	}
	return c.each(func(i int, _ *node) error { return c.Rejoin(ctx, i) })
}

func (n *node) groupFlags(id int, members []string, durable bool) []string {
	flags := []string{
		"--server-id=" + strconv.Itoa(id), "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-bin=bin", "--relay-log=relay",
		"--report-host=127.0.0.1", "--report-port=" + strconv.Itoa(n.sql),
		"--plugin-load-add=group_replication.so",
		"--loose-group-replication-group-name=" + groupName, "--loose-group-replication-start-on-boot=OFF",
		"--loose-group-replication-local-address=" + local(n.group),
		"--loose-group-replication-group-seeds=" + strings.Join(members, ","), "--loose-group-replication-ip-allowlist=127.0.0.0/8",
		"--loose-group-replication-single-primary-mode=OFF", "--loose-group-replication-enforce-update-everywhere-checks=ON",
		"--loose-group-replication-recovery-get-public-key=ON",
		// A dead node is given up when it is suspected, after five seconds and not ten: shorter tests.
		"--loose-group-replication-member-expel-timeout=0",
		// One that was expelled comes back by joinGroup only, which an attempt of its own would cross.
		"--loose-group-replication-autorejoin-tries=0",
	}
	if !durable {
		flags = append(flags, "--innodb-flush-log-at-trx-commit=2") // a killed process loses nothing
	}
	return flags
}

// The user that a joining node copies as is made on each node by itself, outside of what is replicated.
// Starting the group waits until the node is a member.
const (
	sqlUnlogged     = `SET SQL_LOG_BIN = 0`
	sqlLogged       = `SET SQL_LOG_BIN = 1`
	sqlCopyUser     = `CREATE USER copy@'127.0.0.1' IDENTIFIED BY 'copy'`
	sqlCopyGrant    = `GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO copy@'127.0.0.1'`
	sqlCopyAs       = `CHANGE REPLICATION SOURCE TO SOURCE_USER = 'copy', SOURCE_PASSWORD = 'copy' FOR CHANNEL 'group_replication_recovery'`
	sqlBootstrapOn  = `SET GLOBAL group_replication_bootstrap_group = ON`
	sqlBootstrapOff = `SET GLOBAL group_replication_bootstrap_group = OFF`
	sqlStartGroup   = `START GROUP_REPLICATION`
	sqlStopGroup    = `STOP GROUP_REPLICATION`
	sqlReadOnly     = `SET GLOBAL super_read_only = ON`
)

func (n *node) prepareGroup(ctx context.Context) error {
	if err := n.exec(ctx, sqlUnlogged, sqlCopyUser, sqlCopyGrant, sqlLogged, sqlCopyAs); err != nil {
		return fmt.Errorf("devdb: prepare a member: %w; the end of its log:\n%s", err, n.logTail())
	}
	return nil
}

func (n *node) exec(ctx context.Context, queries ...string) error {
	for _, query := range queries {
		if _, err := n.admin.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// The node's own state as it sees it: one row of a table in memory, absent before the first start of the
// group.
const sqlMemberState = `SELECT COALESCE(MAX(member_state), '') FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid`

// erAlreadyRunning: START GROUP_REPLICATION while the group runs, or still stops.
const erAlreadyRunning = 3093

// joinGroup waits until the node is ONLINE. One that was expelled is told to leave first. The group refuses
// a node that it has not yet given up, so joining is tried again. Until it is ONLINE it must take no write,
// or it has a transaction of its own and can never join: outside of the group only super_read_only sees to
// that.
func (n *node) joinGroup(ctx context.Context) error {
	var refused error
	err := n.until(ctx, func() (bool, error) {
		var state string
		if err := n.admin.QueryRowContext(ctx, sqlMemberState).Scan(&state); err != nil {
			return false, err
		}
		switch state {
		case "ONLINE":
			return true, nil
		case "RECOVERING", "UNREACHABLE":
			return false, fmt.Errorf("its state is %s", state)
		case "ERROR":
			if err := n.exec(ctx, sqlReadOnly, sqlStopGroup); err != nil {
				return false, err
			}
		}
		err := n.exec(ctx, sqlReadOnly, sqlStartGroup)
		var my *mysql.MySQLError
		if err != nil && (!errors.As(err, &my) || my.Number != erAlreadyRunning) {
			refused = err
		}
		return false, err
	})
	if err != nil {
		return errors.Join(err, refused)
	}
	return nil
}
