package quota

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
)

// Mark notes, in the transaction of a mutation that may move the quota of owner, that the owner is to be
// recalculated: a row of the resource was created, archived, activated or deleted, or the owner's limit
// changed. One statement. It waits for no other mutation and for no recalculation.
//
// The mark commits with the mutation, so no mutation is forgotten; give it the mutation's transaction, not
// the pool. resource is the resource's name in the plan, owner the values of its owner columns, of the
// tenant's first where there is one, as the columns hold them: a string for CHAR, bytes for BINARY. An owner
// that cannot be a key is [onerow.ErrInvalidKey].
func Mark(ctx context.Context, tx onerow.DB, resource string, owner ...any) error {
	key, err := encodeMark(resource, owner)
	if err == nil {
		err = recount.Quota(ctx, tx, resource, key)
	}
	return err
}

// MarkStmt is [Mark] as a statement of [packet.ExecLast], for it is the last of most mutations.
func MarkStmt(resource string, owner ...any) (onerow.Stmt, error) {
	key, err := encodeMark(resource, owner)
	if err != nil {
		return onerow.Stmt{}, err
	}
	return recount.QuotaStmt(resource, key), nil
}

func encodeMark(resource string, owner []any) (string, error) {
	key, err := onerow.EncodeKey(owner...)
	if err != nil {
		return "", errtext.Wrap(err, "quota: mark an owner of %s", resource)
	}
	return key, nil
}

// One entry of the index owner. Plain read.
const sqlMarked = `SELECT 1 FROM onerow_quota_mark WHERE resource = ? AND owner = ? LIMIT 1`

func (r *Rule) marked(ctx context.Context, db onerow.DB, o recount.Owner) (bool, error) {
	var one int
	err := onerow.QueryRow(ctx, db, sqlMarked, []any{r.resource, o.Key}, &one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, errtext.Wrap(err, "quota: look for marks of owner %s of %s", o.Key, r.resource)
	}
	return true, nil
}

// Exactly the marks that were read, never "up to" the last of them: ids commit out of order. The ids come as
// a table that is joined by primary key, one look-up each. An IN list would become a scan as soon as it holds
// a good part of the table, and at REPEATABLE READ a scan locks every row and the end of the table: nobody
// could append a mark until COMMIT.
const sqlDeleteMarks = `DELETE m FROM ` + sqlIDs + ` STRAIGHT_JOIN onerow_quota_mark AS m FORCE INDEX (PRIMARY) ON m.id = ids.id`

// sqlIDs is the table of the ids that are given as a JSON array.
const sqlIDs = `JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS ids`

// inChunks are statements whose first parameter is a JSON array of ids, for all ids, in their order.
func inChunks[ID any](query string, ids []ID, args ...any) (stmts []onerow.Stmt, err error) {
	for part := range slices.Chunk(ids, chunk) {
		list, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		stmts = append(stmts, onerow.Stmt{Query: query, Args: append([]any{string(list)}, args...)})
	}
	return stmts, nil
}

// counted has each of some statements say how many rows it affects.
func counted(stmts []onerow.Stmt) []int64 {
	rows := make([]int64, len(stmts))
	for i := range stmts {
		stmts[i].Rows = &rows[i]
	}
	return rows
}
