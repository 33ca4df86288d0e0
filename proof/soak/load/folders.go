package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
)

// FolderTable has rows that the toolkit did not make, with leaves below them. Folders are deleted, kept in
// the trash and brought back, over and over. What they are is told once, in the transaction that makes them:
// at the end all of them must have come back as told.
const FolderTable = "soak_folder"

const (
	tellFolder = `INSERT INTO soak_told (leaves, body) VALUES (?, ?)`
	makeFolder = `INSERT INTO soak_folder (id, body) VALUES (?, ?)`
	makeLeaf   = `INSERT INTO soak_leaf (folder, body) VALUES `
	newFolders = `SELECT id FROM soak_folder ORDER BY id DESC LIMIT 30`
	newDeleted = `SELECT id FROM onerow_job_archive WHERE resource = '` + FolderTable + `' AND state = 'done' ORDER BY id DESC LIMIT 10`
)

const mostLeaves = 40

// folder is one call about folders, which no journal knows.
func (c *client) folder(ctx context.Context, call func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.patience())
	defer cancel()
	c.note(resultOf(call(limited)))
	return nil
}

func (c *client) createFolder(ctx context.Context) error {
	leaves, body := c.rand.IntN(mostLeaves), "by "+c.fresh()
	return c.folder(ctx, func(ctx context.Context) error {
		return onerow.InTx(ctx, c.db, func(ctx context.Context, tx *onerow.Tx) error {
			res, err := tx.ExecContext(ctx, tellFolder, leaves, body)
			if err != nil {
				return err
			}
			id, err := res.LastInsertId()
			if err == nil {
				_, err = tx.ExecContext(ctx, makeFolder, id, body)
			}
			if err == nil && leaves > 0 {
				var args []any
				for range leaves {
					args = append(args, id, body)
				}
				_, err = tx.ExecContext(ctx, makeLeaf+strings.TrimSuffix(strings.Repeat("(?, ?), ", leaves), ", "), args...)
			}
			return err
		})
	})
}

// pickID is one of the ids that a query finds, or 0.
func (c *client) pickID(ctx context.Context, query string) (id int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	defer cancel()
	seen := 0
	err := onerow.Query(ctx, c.db, query, nil, func(rows *sql.Rows) error {
		var one int64
		err := rows.Scan(&one)
		if seen++; c.rand.IntN(seen) == 0 {
			id = one
		}
		return err
	})
	if err != nil {
		return 0
	}
	return id
}

func (c *client) deleteFolder(ctx context.Context) error {
	id := c.pickID(ctx, newFolders)
	if id == 0 {
		return nil
	}
	return c.folder(ctx, func(ctx context.Context) error {
		key, err := onerow.EncodeKey(id)
		if err == nil {
			_, err = queue.Enqueue(ctx, c.db, queue.Deletion{Resource: FolderTable, ResourceID: key})
		}
		return err
	})
}

func (c *client) restoreFolder(ctx context.Context) error {
	id := c.pickID(ctx, newDeleted)
	if id == 0 {
		return nil
	}
	return c.folder(ctx, func(ctx context.Context) error { return RestoreFolder(ctx, c.db, c.cfg.Cluster, id) })
}

// RestoreFolder brings back what a job has deleted. That there is nothing to bring back is no error.
func RestoreFolder(ctx context.Context, db *sql.DB, cluster bool, job int64) error {
	_, _, err := recover.Job(ctx, db, Plan(cluster), job, recover.Options{Batch: 7})
	if errors.Is(err, recover.ErrNotKept) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("soak: bring back what job %d has deleted: %w", job, err)
	}
	return err
}

// Restores that were cut hold their jobs; what was deleted comes back at the end.
const (
	heldFolders    = `SELECT id FROM onerow_job WHERE resource = '` + FolderTable + `' AND state = 'held'`
	deletedFolders = `SELECT id FROM onerow_job_archive WHERE resource = '` + FolderTable + `' AND state = 'done'`
)

// RestoreHeld goes on with restores that were cut: no other one does.
func RestoreHeld(ctx context.Context, db *sql.DB, cluster bool) error {
	return restoreFolders(ctx, db, cluster, heldFolders)
}

// RestoreDeleted brings back all that was deleted.
func RestoreDeleted(ctx context.Context, db *sql.DB, cluster bool) error {
	return restoreFolders(ctx, db, cluster, deletedFolders)
}

func restoreFolders(ctx context.Context, db *sql.DB, cluster bool, which string) error {
	var jobs []int64
	err := onerow.Query(ctx, db, which, nil, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		jobs = append(jobs, id)
		return err
	})
	for _, job := range jobs {
		if err == nil {
			err = RestoreFolder(ctx, db, cluster, job)
		}
	}
	return err
}
