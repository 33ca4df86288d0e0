package crashtest

import (
	"fmt"
	"slices"
)

// Fault is what happens to one execution.
type Fault string

// The faults. Each leaves the server in the state in which the real one would: a session that was cut or
// killed is gone and its transaction rolled back before the workflow goes on, a deadlock rolls the whole
// transaction back, a lock wait timeout undoes its statement only and leaves the transaction open. The table
// in the package's documentation says at which statements each can happen and what the call sees.
const (
	// CutBefore: outside a transaction database/sql repeats the statement on another connection by itself.
	CutBefore Fault = "connection cut before the statement was sent"
	// CutLost: nothing was executed.
	CutLost Fault = "connection cut, the statement never reached the server"
	// CutAfter: the error is the same as that of CutLost.
	CutAfter Fault = "connection cut, executed but the answer was lost"
	// CutInside: of several statements in one packet all are executed but the COMMIT at the end.
	CutInside Fault = "connection cut inside the packet, before its COMMIT"
	// KillBefore: KILL CONNECTION from another session.
	KillBefore Fault = "connection killed before the statement"
	// KillAfter: KILL CONNECTION after the answer has arrived. The next user of the connection finds it dead.
	KillAfter Fault = "connection killed after the statement"
	// DeadlockBefore: at COMMIT it is what a Galera cluster says to a transaction that lost.
	DeadlockBefore Fault = "deadlock (1213), the transaction rolled back"
	// DeadlockAfter: ids that the statement drew stay used. Only in transactions.
	DeadlockAfter Fault = "deadlock (1213) after the statement's work, the transaction rolled back"
	// LockWait: the statement did nothing.
	LockWait Fault = "lock wait timeout (1205), the statement undone, the transaction still open"
	// CancelBefore: at COMMIT right after the statement before it, so that COMMIT is not sent.
	CancelBefore Fault = "context cancelled before the statement"
	// CancelAfter: the driver drops the connection. COMMIT and ROLLBACK do not listen to contexts: there it
	// is cancelled after the answer.
	CancelAfter Fault = "context cancelled during the statement, which was executed"
	// RefusedCertification: what Group Replication's certifier says.
	RefusedCertification Fault = "COMMIT refused (3101), the transaction rolled back"
	// RefusedCommit: what another cluster may say.
	RefusedCommit Fault = "COMMIT failed (1180), the transaction rolled back"
	// Abandoned: the connection keeps its locks. The retry comes from another process; when it is seen to
	// wait, the connection is killed.
	Abandoned Fault = "process stopped before the statement, its connection stays open"
)

// point is one fault at one statement of a workflow.
type point struct {
	// Number counts the workflow's fault points from 1, Of is how many there are.
	Number, Of int
	// Index is the statement's place in the learned log, from 1 to Statements.
	Index, Statements int
	Statement         Statement
	Fault             Fault
}

// String names the point in one line.
func (p point) String() string {
	return fmt.Sprintf("fault point %d of %d: statement %d of %d, %s: %s", p.Number, p.Of, p.Index, p.Statements, p.Statement, p.Fault)
}

// faultsOf lists what can happen to a statement.
func faultsOf(s Statement) []Fault {
	faults := []Fault{CutBefore, CutLost, CutAfter, KillBefore, KillAfter, CancelBefore, CancelAfter}
	switch s.Kind {
	case kindExec, kindQuery:
		faults = append(faults, DeadlockBefore)
		if s.InTx || s.Begins { // outside, the statement is committed already: a deadlock cannot undo it
			faults = append(faults, DeadlockAfter)
		}
		faults = append(faults, LockWait)
	case kindCommit:
		faults = append(faults, DeadlockBefore, RefusedCertification, RefusedCommit)
		if _, uncommitted := split(s.SQL); uncommitted != "" {
			faults = append(faults, CutInside, DeadlockAfter, LockWait)
		}
	case kindBegin, kindRollback:
	}
	return append(faults, Abandoned)
}

// pointsOf lists all fault points of a learned log, statement by statement.
func pointsOf(log Log, without ...Fault) []point {
	var points []point
	for i, s := range log {
		for _, fault := range faultsOf(s) {
			if !slices.Contains(without, fault) {
				points = append(points, point{Number: len(points) + 1, Index: i + 1, Statements: len(log), Statement: s, Fault: fault})
			}
		}
	}
	for i := range points {
		points[i].Of = len(points)
	}
	return points
}
