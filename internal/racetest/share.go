package racetest

import (
	"os"

	"github.com/onerow/onerow/crashtest"
)

// EnvFaults is the name of the environment variable that has the largest explorations make one half of the
// faults only, first or second. A push has one half on MariaDB at READ COMMITTED and the other on MySQL at
// REPEATABLE READ; make nightly has all of them, at both levels, on each engine.
const EnvFaults = "ONEROW_FAULTS"

// Both halves have faults before a statement, during it, and after.
var (
	firstFaults = []crashtest.Fault{crashtest.CutLost, crashtest.CutAfter, crashtest.KillBefore, crashtest.CancelAfter, crashtest.DeadlockAfter,
		crashtest.RefusedCertification, crashtest.Abandoned}
	secondFaults = []crashtest.Fault{crashtest.CutBefore, crashtest.KillAfter, crashtest.CancelBefore, crashtest.DeadlockBefore, crashtest.LockWait,
		crashtest.RefusedCommit}
)

// Share leaves out the faults that are the other half's.
func Share(w crashtest.Workflow) crashtest.Workflow {
	switch half := os.Getenv(EnvFaults); half {
	case "":
	case "first":
		w.Without = append(w.Without, secondFaults...)
	case "second":
		w.Without = append(w.Without, firstFaults...)
	default:
		panic(EnvFaults + "=" + half + ": it is first or second")
	}
	return w
}

// Least is how many fault points an exploration has at least, of which there are so many in all.
func Least(points int) int {
	if os.Getenv(EnvFaults) != "" {
		return points / 3
	}
	return points
}
