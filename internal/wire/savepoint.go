package wire

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// MySQL's Group Replication answers OK to SAVEPOINT in a transaction that a write from another member has
// pushed away. InnoDB has rolled it back and begins a new one; the binary log keeps the rows. COMMIT then
// succeeds, and what was written before the savepoint is on every member but this one. A statement in front
// of it proves nothing, for the write may come between the two; a proof would be a row that is written before
// each savepoint and read behind it. So no SAVEPOINT is sent there: see onerow.Tx.Savepoint.

// The two set a savepoint, whose name is between them, on MariaDB. On MySQL they ask whether the server
// belongs to a group, or is configured to; the name of a group can only be changed while the server is
// outside of one. They touch no table of an engine.
const (
	sqlMark  = `/*M! SAVEPOINT `
	sqlAsked = ` */ /*!50701 SELECT 'groups', CAST(COUNT(*) AS CHAR) FROM performance_schema.global_variables
WHERE VARIABLE_NAME = 'group_replication_group_name' AND VARIABLE_VALUE <> '' */`
)

// sqlGroup asks the same where those comments are not understood, by a proxy or by a later engine.
const sqlGroup = `SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'`

// MarkedByGuard is what a guarded session answers to a [Marked] text: it has seen to the savepoint.
const MarkedByGuard = "guarded"

// AskGroup asks whether the server is in a group, and says whether the savepoint is set by that, as on
// MariaDB. ask returns the second value of a text's row, or sql.ErrNoRows. One statement; two where the first
// is not understood.
func AskGroup(name string, ask func(text string) (string, error)) (group Answer, set bool, err error) {
	value, err := ask(sqlMark + name + sqlAsked)
	set = errors.Is(err, sql.ErrNoRows) || value == MarkedByGuard
	if mysqlerr.Number(err) != 0 && !mysqlerr.EndsTransaction(err) && mysqlerr.Classify(err) != mysqlerr.Interrupted {
		value, err = ask(sqlGroup)
	}
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return NotAsked, false, err
	case set, value == "", value == "0":
		return No, set, nil
	}
	return Yes, false, nil
}

// Marked is the name in a text that sets a savepoint and asks for a group.
func Marked(query string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(query, sqlMark); ok {
		name, ok = strings.CutSuffix(name, sqlAsked)
	}
	return name, ok
}

// SameName is the name of a savepoint that no text can know: that it is still there proves that the
// transaction is still the same one.
func SameName() string { return fmt.Sprintf("onerow_same_%016x", rand.Uint64()) } //nolint:gosec // against chance
