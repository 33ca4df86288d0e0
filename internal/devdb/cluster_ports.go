//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports of clusters lie below those that systems give to outgoing connections: a killed node's port
// must be free when it comes back, after thousands of connections.
const (
	firstPort    = 20000
	portBlocks   = 375
	portsOfBlock = 32
)

// clusterPorts are a node's. What a cluster's kind does not need stays free.
type clusterPorts struct{ sql, group, ist, sst int }

const portsOfNode = 4

// portBlock is the ports of one cluster. While it is used its first port is listened on, so that no other
// cluster chooses the block while a node is dead.
type portBlock struct {
	guard net.Listener
	first int
}

func choosePorts(nodes int) (*portBlock, error) {
	if nodes < 1 || 1+nodes*portsOfNode > portsOfBlock {
		return nil, fmt.Errorf("devdb: a cluster has from 1 to %d nodes, not %d", (portsOfBlock-1)/portsOfNode, nodes)
	}
	var last error
	for range 100 {
		b := &portBlock{first: firstPort + portsOfBlock*rand.IntN(portBlocks)} //nolint:gosec // chance, not a secret
		if b.guard, last = listen(b.first); last != nil {
			continue
		}
		if last = allFree(b.first+1, nodes*portsOfNode); last == nil {
			return b, nil
		}
		last = errors.Join(last, b.guard.Close())
	}
	return nil, fmt.Errorf("devdb: no free loopback ports for a cluster: %w", last)
}

func allFree(first, count int) error {
	for i := range count {
		l, err := listen(first + i)
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

func listen(port int) (net.Listener, error) { return net.Listen("tcp", local(port)) }

func (b *portBlock) of(node int) clusterPorts {
	p := b.first + 1 + node*portsOfNode
	return clusterPorts{sql: p, group: p + 1, ist: p + 2, sst: p + 3}
}

func (b *portBlock) free() error { return b.guard.Close() }

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
