package admin

import (
	"context"
	"database/sql"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
)

// searchWindow is how many of the newest jobs, deletions and actions a search looks through for what no index
// leads to.
const searchWindow = 10_000

// maxFound is how many jobs a search returns at most.
const maxFound = 1000

// A search is the union of its parts. The first reads the primary keys, the second the unique key one_open
// and the archive's index (resource, resource_id, id): they find jobs of any age. The others read the newest
// entries of a primary key, and look up what they found by the keys of the jobs.
const (
	sqlSearchID  = `SELECT id FROM onerow_job WHERE id = ? UNION ALL SELECT id FROM onerow_job_archive WHERE id = ?`
	sqlSearchRow = `SELECT id FROM onerow_job FORCE INDEX (one_open) WHERE resource = ? AND resource_id IN (?, ?)
UNION ALL (SELECT id FROM onerow_job_archive FORCE INDEX (resource) WHERE resource = ? AND resource_id IN (?, ?) ORDER BY resource_id DESC, id DESC LIMIT 1000)`
	sqlSearchJobs = `SELECT id FROM (SELECT id, resource, resource_id, deletion_id FROM onerow_job FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS newest
WHERE resource = ? OR resource_id IN (?, ?) OR deletion_id = ?
UNION ALL SELECT id FROM (SELECT id, resource, resource_id, deletion_id FROM onerow_job_archive FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS newest
WHERE resource = ? OR resource_id IN (?, ?) OR deletion_id = ?`
	sqlSearchOwner = `SELECT j.id FROM (SELECT id, resource, resource_id, owner FROM onerow_deletion FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS d
  STRAIGHT_JOIN onerow_job AS j FORCE INDEX (one_open) ON j.resource = d.resource AND j.resource_id = d.resource_id AND j.deletion_id = d.id WHERE d.owner IN (?, ?)
UNION ALL SELECT j.id FROM (SELECT id, resource, resource_id, owner FROM onerow_deletion FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS d
  STRAIGHT_JOIN onerow_job_archive AS j FORCE INDEX (resource) ON j.resource = d.resource AND j.resource_id = d.resource_id AND j.deletion_id = d.id WHERE d.owner IN (?, ?)`
	sqlSearchActor = `SELECT job_id FROM (SELECT id, job_id, actor FROM onerow_action FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS a
WHERE job_id IS NOT NULL AND LOCATE(?, LOWER(CAST(actor AS CHAR CHARACTER SET utf8mb4))) > 0
UNION ALL SELECT j.id FROM (SELECT id, job_id, resource, resource_id, deletion_id, actor FROM onerow_action FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS a
  STRAIGHT_JOIN onerow_job AS j FORCE INDEX (one_open) ON j.resource = a.resource AND j.resource_id = a.resource_id AND j.deletion_id = a.deletion_id
WHERE a.job_id IS NULL AND LOCATE(?, LOWER(CAST(a.actor AS CHAR CHARACTER SET utf8mb4))) > 0
UNION ALL SELECT j.id FROM (SELECT id, job_id, resource, resource_id, deletion_id, actor FROM onerow_action FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?) AS a
  STRAIGHT_JOIN onerow_job_archive AS j FORCE INDEX (resource) ON j.resource = a.resource AND j.resource_id = a.resource_id AND j.deletion_id = a.deletion_id
WHERE a.job_id IS NULL AND LOCATE(?, LOWER(CAST(a.actor AS CHAR CHARACTER SET utf8mb4))) > 0`
)

// Search finds jobs by what somebody knows of them, newest first, with their counts: by the number of the job
// or of its deletion; by the row, as in "project 42"; by the resource or the key alone; by the owner; or by a
// part of the name of who has acted, see [queue.WithActor]. By its number and by its row a job is found
// whatever its age, else among the newest 10,000 jobs, deletions and actions. Nothing is found by an empty
// text.
//
// At most limit jobs, 1000 for more. Two statements, 1 if nothing is found.
func Search(ctx context.Context, db onerow.DB, text string, limit int) ([]queue.Job, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || limit <= 0 {
		return nil, nil
	}
	plain, asText := searchedKeys(text)
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number = -1
	}
	parts, args := []string{sqlSearchID}, []any{number, number}
	if resource, key, found := strings.Cut(text, " "); found {
		plain, asText := searchedKeys(key)
		parts, args = append(parts, sqlSearchRow), append(args, resource, plain, asText, resource, plain, asText)
	}
	window := searchWindow
	for range 2 {
		args = append(args, window, []byte(text), plain, asText, number)
	}
	for range 2 {
		args = append(args, window, plain, asText)
	}
	actor := strings.ToLower(text)
	for range 3 {
		args = append(args, window, actor)
	}
	parts = append(parts, sqlSearchJobs, sqlSearchOwner, sqlSearchActor)
	query := "SELECT DISTINCT id FROM (" + strings.Join(parts, "\nUNION ALL ") + ") AS found ORDER BY id DESC LIMIT ?"
	ids, err := readAll(ctx, db, "cascade: search", query, append(args, min(limit, maxFound)), func(rows *sql.Rows, id *int64) error { return rows.Scan(id) })
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return queue.List(ctx, db, queue.ListOptions{IDs: ids})
}

// searchedKeys are the two forms that a key may have whose text somebody has typed: as it is, for numbers,
// bytes (those of a UUID may have its dashes) and what is encoded already, and as text.
func searchedKeys(typed string) (plain, asText []byte) {
	encoded, err := onerow.EncodeKey(typed)
	if err != nil { // too long
		encoded = typed
	}
	if raw, ok := rowkey.Bytes(typed); ok {
		typed = "0x" + hex.EncodeToString(raw)
	}
	return []byte(typed), []byte(encoded)
}
