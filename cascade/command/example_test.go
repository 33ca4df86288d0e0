package command_test

import (
	"context"
	"os"

	"gocloud.dev/blob"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/blobassets"
	"github.com/onerow/onerow/cascade/command"
	"github.com/onerow/onerow/schema"
)

// The main of a program of one's own: the application's plan in Go, so that nobody keeps a file beside it,
// and the bucket that the application writes to. It has all commands of cascade-worker.
func ExampleMain() {
	plan := schema.Plan{Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}},
		{Name: "picture", Parent: schema.Parent{Resource: "project", Column: "project_id"}, Asset: "object",
			Columns: []schema.Column{{Name: "object", Type: "VARCHAR(80) NOT NULL"}}},
	}}
	os.Exit(command.Main(&plan, command.Options{Version: "1.4", OpenAssets: openBucket}))
}

// openBucket opens what --assets names, as in s3://pictures?region=eu-central-1, with the driver that this
// program links: _ "gocloud.dev/blob/s3blob".
func openBucket(ctx context.Context, address string) (cascade.Assets, func() error, error) {
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	return blobassets.New(bucket), bucket.Close, nil
}
