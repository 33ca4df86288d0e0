package racetest

import (
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
)

// Together has a workflow's sessions send together what may be, as those of onerow.Open do.
func Together(w crashtest.Workflow) crashtest.Workflow {
	w.Name = strings.TrimPrefix(w.Name+", together", ", ")
	w.DSN += "&multiStatements=true&interpolateParams=true"
	w.Wrap = onerow.Packets
	return w
}

// HasPackets fails the test if no statement of a workflow travelled with BEGIN.
func HasPackets(t *testing.T, log crashtest.Log) {
	t.Helper()
	for _, s := range log {
		if s.Begins {
			return
		}
	}
	t.Errorf("nothing travelled with BEGIN:\n%s", log)
}
