package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// MySQL's Group Replication answers OK to SAVEPOINT in a transaction that a write from another member has
// pushed away. InnoDB has rolled it back and begins a new one; the binary log keeps the rows. COMMIT then
// succeeds, and what was written before the savepoint is on every member but this one. A statement in front
// of it proves nothing, for the write may come between the two; a proof would be a row that is written before
// each savepoint and read behind it. So no SAVEPOINT is sent there: see [Tx.Savepoint] and [Guard].

// sqlMark sets a savepoint on MariaDB, and on MySQL asks whether the server belongs to a group, or is
// configured to. The name of a group can only be changed while the server is outside of one. It touches no
// table of an engine.
const sqlMark = `/*M! SAVEPOINT %s */ /*!50701 SELECT 'groups', CAST(COUNT(*) AS CHAR) FROM performance_schema.global_variables
WHERE VARIABLE_NAME = 'group_replication_group_name' AND VARIABLE_VALUE <> '' */`

// sqlGroup asks the same where those comments are not understood, by a proxy or by a later engine.
const sqlGroup = `SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'`

// guardMarked is what a guarded session answers to sqlMark: it has seen to the savepoint.
const guardMarked = "guarded"

// errGrouped is why what was written in a group stays.
var errGrouped = errors.New("onerow: there is no savepoint to go back to, for on a member of a replication group the server's are not safe")

// markSQL is sqlMark for a savepoint.
func markSQL(name string) string { return fmt.Sprintf(sqlMark, name) }

// marked is the name in a text of markSQL.
func marked(query string) (name string, ok bool) {
	head, tail, _ := strings.Cut(sqlMark, "%s")
	if name, ok = strings.CutPrefix(query, head); ok {
		name, ok = strings.CutSuffix(name, tail)
	}
	return name, ok
}

// mark sets a savepoint in a joined transaction, and says whether it is one that the server has.
func (tx *Tx) mark(ctx context.Context, name string) (real bool, err error) {
	outer := tx
	for above, ok := outer.db.(*Tx); ok; above, ok = outer.db.(*Tx) {
		outer = above
	}
	if outer.group == notAsked {
		var set bool
		if outer.group, set, err = tx.askGroup(ctx, name); set || err != nil {
			return set, err
		}
	}
	if outer.group == yes {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, "SAVEPOINT "+name)
	return true, err
}

// askGroup asks whether the server is in a group, and sets the savepoint where the answer is one that it is
// set.
func (tx *Tx) askGroup(ctx context.Context, name string) (group answer, set bool, err error) {
	var what, value string
	err = QueryRow(ctx, tx, markSQL(name), nil, &what, &value)
	if errNumber(err) != 0 && !mysqlerr.EndsTransaction(err) {
		if err = QueryRow(ctx, tx, sqlGroup, nil, &what, &value); errors.Is(err, sql.ErrNoRows) {
			return no, false, nil
		}
	}
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && value == guardMarked:
		return no, true, nil // from now on as plain text
	case err != nil:
		return notAsked, false, err
	case value == "0", value == "":
		return no, false, nil
	}
	return yes, false, nil
}

// dirty says whether something may have been written since there were so many writes.
func (tx *Tx) dirty(writes int) bool {
	for t, ok := tx, true; ok; t, ok = t.db.(*Tx) {
		if t.escaped {
			return true
		}
	}
	return tx.writes != writes
}
