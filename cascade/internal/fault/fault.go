// Package fault says what an error is about: a row, the state of the server, or neither of them.
//
// Open this package when a job ends in the wrong state after an error, see FateOf.
package fault

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// Assets keeps what an asset store has said from being taken for something of the database: it counts as a
// failure of the job.
type Assets struct{ Err error }

// Error is what the store has said.
func (e *Assets) Error() string { return e.Err.Error() }

// Unwrap returns it.
func (e *Assets) Unwrap() error { return e.Err }

func ofAssets(err error) bool {
	var assets *Assets
	return errors.As(err, &assets)
}

// Transient says whether err says nothing about the job: the database refused a transaction, could not be
// reached, or did not answer.
func Transient(err error) bool {
	return !ofAssets(err) && (onerow.Retryable(err) || errors.Is(err, onerow.ErrOutcomeUnknown))
}

// connectionLost says whether the connection, rather than the statement, is what failed.
func connectionLost(err error) bool {
	class := mysqlerr.Classify(err)
	return class == mysqlerr.ConnectionLost || class == mysqlerr.NotSent
}

// notOfRows are the errors of the server that say nothing about rows: every row would
// meet them, now or until somebody does something. So are serverStates, which end by themselves.
var notOfRows = []uint16{
	1064, 1149, // syntax
	1046, 1049, 1051, 1054, 1072, 1109, 1146, 1176, 1305, 1360, 1932, // something does not exist
	1044, 1045, 1095, 1142, 1143, 1227, 1356, 1370, 1410, 1449, 1698, // not allowed
	1036, 1209, // read only
	1034, 1035, 1194, 1195, // a broken table
	1153, 1197, 1390, 1436, // too large for the server's settings
	1267, 1270, 1271, // collations
	1235, 1296, // versions
	erOptionPrevents, // another option than one that forbids writes
}

// Denied says whether the server refuses a table or a column to the user.
func Denied(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && (my.Number == 1142 || my.Number == 1143)
}

// OfRow says whether an error of a batch may be about a single row of it: a foreign
// key that refuses, a trigger that objects, a value that does not fit.
func OfRow(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && !ofAssets(err) && !Transient(err) && !mysqlerr.MayRunAgain(err) &&
		ServerState(err) == nil && !slices.Contains(notOfRows, my.Number)
}
