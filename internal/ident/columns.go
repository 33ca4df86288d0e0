package ident

import (
	"crypto/sha256"
	"encoding/hex"
)

// The columns that the toolkit gives a resource's tables, beside those that the resource names itself.
const (
	ColStemKey     = "stem_key"     // name key without its copy token
	ColCopyNo      = "copy_no"      // number of the copy token, 0 without one
	ColVersion     = "version"      // +1 with every write but those of the quota flag and the guard
	ColGuard       = "guard"        // +1 with every row that comes below, in a plan for a cluster
	ColCreatedAt   = "created_at"   // UTC
	ColUpdatedAt   = "updated_at"   // UTC
	ColArchivedAt  = "archived_at"  // archive only
	ColDeletionID  = "deletion_id"  // archive only: set while a deletion can be cancelled
	ColDeletedFrom = "deleted_from" // archive only: where a cancelled deletion puts the row back
)

// The columns that a trash table has beside those of the table whose rows it keeps. The first two are in its
// key, before that of the table.
const (
	ColTrashJob  = "onerow_job"  // that has deleted the row
	ColTrashStep = "onerow_step" // how many statements of the job had kept rows before
	ColTrashLost = "onerow_lost" // over which edges the row referred to one that was not there; 0: over none
)

// trashPrefix begins the names of trash tables.
const trashPrefix = "onerow_trash_"

// TrashTable is the name of the table that keeps the deleted rows of a table. A long name is cut and ends
// with eight digits of its hash.
func TrashTable(table string) string {
	name := []rune(trashPrefix + table)
	if len(name) <= maxLen {
		return string(name)
	}
	sum := sha256.Sum256([]byte(table))
	digits := "_" + hex.EncodeToString(sum[:4])
	return string(name[:maxLen-len(digits)]) + digits
}
