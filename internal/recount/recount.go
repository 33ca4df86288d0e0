// Package recount notes, in the transaction of what deletes rows or moves a quota, that an owner is to be
// counted again: [Quota] for the quota of a resource, [Limit] for a limit of a plan. The engine writes these
// notes and links neither of the two, quota and limit read them. Each is one statement; none decides
// anything.
//
// Open this package when a deletion is to tell limits or quotas of an owner.
package recount

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlMark appends; it waits for nobody: the id is new and the one secondary key
// (resource, owner, id) is not unique.
const sqlMark = `INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES (?, ?, UTC_TIMESTAMP(6))`

// Quota notes an owner for the next recalculation, by the key of its values. One statement, which waits for
// nobody.
func Quota(ctx context.Context, tx onerow.DB, resource, owner string) error {
	stmt := QuotaStmt(resource, owner)
	if _, err := tx.ExecContext(ctx, stmt.Query, stmt.Args...); err != nil {
		return fmt.Errorf("quota: mark owner %s of %s: %w", owner, resource, err)
	}
	return nil
}

// QuotaStmt is [Quota] as a statement that travels with others.
func QuotaStmt(resource, owner string) onerow.Stmt {
	return onerow.Stmt{Query: sqlMark, Args: []any{resource, owner}}
}

// An owner of whom nothing is known yet.
const (
	// UnknownRoom is the room of an owner who has not been counted: nothing fits into it.
	UnknownRoom int64 = -1 << 62
	// NoMaximum is the maximum of an owner of whom the application has not been asked.
	NoMaximum int64 = -1
)

// sqlAgain notes that rows of an owner have gone that gave nothing back. By the primary key; it locks the
// row, or makes it, so that a count comes before it or sees what its transaction did.
const sqlAgain = `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version) VALUES (?, ?, 0, ?, ?, 1)
 ON DUPLICATE KEY UPDATE counted_at = NULL, version = version + 1`

// Limit has an owner counted by the next sweep of the limit of that name. One statement, which locks the
// owner's row.
func Limit(ctx context.Context, tx onerow.DB, name, owner string) error {
	if _, err := tx.ExecContext(ctx, sqlAgain, name, []byte(owner), UnknownRoom, NoMaximum); err != nil {
		return fmt.Errorf("limit: note %q of owner %s: %w", name, owner, err)
	}
	return nil
}
