package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// MySQL's Group Replication answers OK to SAVEPOINT in a transaction that a write from another member has
// pushed away. InnoDB has rolled it back and begins a new one; the binary log keeps the rows. COMMIT then
// succeeds, and what was written before the savepoint is on every member but this one. A statement in front
// of it proves nothing, for the write may come between the two; a proof would be a row that is written before
// each savepoint and read behind it. So no SAVEPOINT is sent there: see onerow.Tx.Savepoint.

// sqlMark sets a savepoint on MariaDB, and on MySQL asks whether the server belongs to a group, or is
// configured to. The name of a group can only be changed while the server is outside of one. It touches no
// table of an engine.
const sqlMark = `/*M! SAVEPOINT %s */ /*!50701 SELECT 'groups', CAST(COUNT(*) AS CHAR) FROM performance_schema.global_variables
WHERE VARIABLE_NAME = 'group_replication_group_name' AND VARIABLE_VALUE <> '' */`

// SQLGroup asks the same where those comments are not understood, by a proxy or by a later engine.
const SQLGroup = `SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'`

// MarkedByGuard is what a guarded session answers to [Mark]: it has seen to the savepoint.
const MarkedByGuard = "guarded"

// Mark is the text that sets a savepoint and asks for a group.
func Mark(name string) string { return fmt.Sprintf(sqlMark, name) }

// Marked is the name in a text of [Mark].
func Marked(query string) (name string, ok bool) {
	head, tail, _ := strings.Cut(sqlMark, "%s")
	if name, ok = strings.CutPrefix(query, head); ok {
		name, ok = strings.CutSuffix(name, tail)
	}
	return name, ok
}

// SameName is the name of a savepoint that no text can know: that it is still there proves that the
// transaction is still the same one.
func SameName() string { return fmt.Sprintf("onerow_same_%016x", rand.Uint64()) } //nolint:gosec // against chance
