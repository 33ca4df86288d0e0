package store

import (
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// Names of the resources in the plan.
const (
	ResourceProject = "project"
	ResourceScreen  = "screen"
	ResourceComment = "comment"
)

// Plan declares the application's resources: their tables, which names are the
// same, what hangs below what, which column names a file. The tables (see
// migrations), the worker and the quota all come from here. plan.yaml, beside the
// program, is the same plan in the spelling that cascade-worker reads.
func Plan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{
			Name:    ResourceProject,
			Archive: "project_archive",
			Owner:   "user_id",
			Label:   schema.Label{Column: "name"},
			Quota:   schema.Quota{Flag: "is_over_quota"},
		},
		{
			Name:    ResourceScreen,
			Archive: "screen_archive",
			Owner:   "project_id", // file names are unique within their project
			Label:   schema.Label{Column: "client_filename", Key: "client_filename_base", Kind: names.KindFilename},
			Parent:  schema.Parent{Resource: ResourceProject, Column: "project_id"},
			Asset:   "blob_key",
			Columns: []schema.Column{
				{Name: "blob_key", Type: "VARBINARY(80) NOT NULL"},
				{Name: "content_type", Type: "VARCHAR(100) NOT NULL"},
				{Name: "size", Type: "BIGINT NOT NULL"},
				{Name: "revision", Type: "INT NOT NULL DEFAULT 1"},
			},
		},
		{
			Name:    ResourceComment,
			Owner:   "screen_id", // so that they are listed by screen
			Parent:  schema.Parent{Resource: ResourceScreen, Column: "screen_id"},
			Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
		},
	}}
}
