// Package fileassets opens folders as the place of a plan's assets, by their addresses: it is what
// cascade-worker gives package command for --assets file:///folder.
//
//	os.Exit(command.Main(nil, command.Options{OpenAssets: fileassets.Open}))
//
// Open this package when an address of --assets is read in another way.
package fileassets

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/blobassets"
)

// Open opens a folder, as in file:///folder, and returns how to close it. Its errors quote no more of the
// address than its path, because addresses of other stores may carry keys.
func Open(ctx context.Context, address string) (cascade.Assets, func() error, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != fileblob.Scheme {
		return nil, nil, errors.New("the assets' address is not of the form file:///folder, the only one that this program is built with")
	}
	if u.Host != "" && u.Host != "." && u.Host != "localhost" {
		return nil, nil, errors.New("the assets' address needs three slashes, as in file:///folder (or file://./folder for a relative one)")
	}
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, nil, fmt.Errorf("the assets at %s cannot be opened: is it a folder that this user may write to, and is the address right?", u.Path)
	}
	return blobassets.New(bucket), bucket.Close, nil
}
