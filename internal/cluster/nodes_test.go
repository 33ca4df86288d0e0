//go:build cluster

package cluster

import (
	"testing"
)

// TestNodes: a node that is killed, stopped or paused comes back and has what it missed.
func TestNodes(t *testing.T) {
	for i := range nodes.Nodes() {
		t.Log(nodes.Server(i).Source(), nodes.Server(i).Version())
	}
}
