package undo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Gone says what a job had done before it was ended, and whether that can come back. It says nothing where
// the job had done nothing.
func Gone(ctx context.Context, db onerow.DB, plan schema.Plan, job queue.Job) ([]string, error) {
	if job.DeletedRows+job.DetachedRows == 0 {
		return nil, nil
	}
	kept, err := admin.TrashOf(ctx, db, job.ID)
	if err != nil {
		return nil, err
	}
	var lines []string
	list := func(what string, rows map[string]int64) {
		for _, table := range slices.Sorted(maps.Keys(rows)) {
			verb := "were"
			if rows[table] == 1 {
				verb = "was"
			}
			lines = append(lines, fmt.Sprintf("%s of %s %s %s", output.Plural(rows[table], "row"), output.Printable(table), verb, what))
		}
	}
	list("deleted", job.Tables)
	list("detached", job.Detached)
	assets := int64(0)
	for _, n := range plan.Nodes() {
		for _, table := range n.Tables {
			if n.Asset != "" && n.Trash == 0 {
				assets += job.Tables[table]
			}
		}
	}
	if assets > 0 {
		lines = append(lines, fmt.Sprintf("the assets of %s are gone for good", output.Plural(assets, "row")))
	}
	var rows int64
	for _, k := range kept {
		rows += k.Rows + k.References
	}
	if rows > 0 {
		return append(lines, fmt.Sprintf("%s of these are in the trash: cascade-worker restore %d brings them back", output.Grouped(rows), job.ID)), nil
	}
	return append(lines, "nothing of that is in the trash: it stays gone"), nil
}
