package command

import (
	"context"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/blobassets"
	"github.com/onerow/onerow/schema"
)

// assetsFlag is part of the commands that delete.
type assetsFlag struct {
	Assets string `placeholder:"URL" help:"Where the assets are that the plan's asset columns name: file:///folder ($$ONEROW_ASSETS)."`
}

// assets opens the bucket of the plan's assets. Without asset columns it is nil, and
// closing does nothing.
func (a *app) assets(ctx context.Context, flag assetsFlag, plan schema.Plan) (cascade.Assets, func() error, error) {
	where := flag.Assets
	if where == "" {
		where = a.getenv(envAssets)
	}
	for _, n := range plan.Nodes() { // existing tables may name assets, too
		if n.Asset == "" {
			continue
		}
		if where == "" {
			return nil, nil, usagef("%q of the plan names its assets in the column %q: say where they are with --assets file:///folder or %s",
				n.Name, n.Asset, envAssets)
		}
		bucket, err := openBucket(ctx, where)
		if err != nil {
			return nil, nil, err
		}
		return blobassets.New(bucket), bucket.Close, nil
	}
	return nil, func() error { return nil }, nil
}

// openBucket opens a folder. Its errors quote no more of the address than its path,
// because addresses of other stores may carry keys.
func openBucket(ctx context.Context, where string) (*blob.Bucket, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != fileblob.Scheme {
		return nil, usagef("the assets' address is not of the form file:///folder, the only one that this program is built with")
	}
	if u.Host != "" && u.Host != "." && u.Host != "localhost" {
		return nil, usagef("the assets' address needs three slashes, as in file:///folder (or file://./folder for a relative one)")
	}
	bucket, err := blob.OpenBucket(ctx, where)
	if err != nil {
		return nil, usagef("the assets at %s cannot be opened: is it a folder that this user may write to, and is the address right?", u.Path)
	}
	return bucket, nil
}
