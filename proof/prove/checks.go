package main

import (
	"io"
	"slices"
)

// Rows of docs/GUARANTEES.md, by the words that they begin with.
const (
	promiseSettings = "Settings under which a promise cannot hold are refused at the start"
	promiseDefaults = "A server's defaults break no pool of `pool.Open`"
	promiseNames    = "Names are unique per owner among active rows"
	promiseRequest  = "A create with a request id makes one row, however often it is called"
	promiseNewer    = "An update applies only if it is newer; its retry adds nothing"
	promiseKey      = "Work in this database under a key is done once, its result replayed"
	promiseZombie   = "Work elsewhere under a key begins once; a zombie's completion changes nothing"
	promiseAll      = "A function in a transaction commits all of its writes or none, once"
	promiseSession  = "No session goes back to the pool with an open transaction or a table lock"
	promisePoison   = "When the server has rolled a transaction back, or may have (lock wait timeout, killed statement), nothing of it runs in autocommit"
	promiseUnknown  = "A COMMIT without an answer is never taken for a failure"
	promiseUpdates  = "Each update of a row gets its turn and counts once"
	promiseCascade  = "Counts are exact, however often workers are killed"
	promiseCausal   = "What was committed on a node of a cluster is seen by the next statement on any other"
	promiseTimes    = "A time is written, read and ordered as that moment, in DATETIME and TIMESTAMP"
)

const usePool = "open the pool with pool.Open, whose sessions do not depend on it, or change the setting that the check settings names"

// checks are all there are, those that take long at the end.
func checks() []check {
	return slices.Concat(settingChecks, constraintChecks, transactionChecks, lossChecks, fenceChecks, causalChecks, clockChecks, crashChecks)
}

// list is -list.
func list(out io.Writer, chosen []check) {
	for _, c := range chosen {
		say(out, "%-22s %s (%s)\n%23s%s\n", c.name, c.what, c.with, "", c.promise)
	}
}
