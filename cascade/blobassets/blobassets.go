// Package blobassets deletes a cascade's external assets from a blob store: a
// folder, S3, Google Cloud Storage or Azure, whatever gocloud.dev/blob opens. The
// plan's asset columns hold the keys of the blobs.
//
//	bucket, err := blob.OpenBucket(ctx, "file:///var/lib/app/blobs")
//	…
//	worker, err := cascade.NewWorker(db, plan, cascade.Config{Assets: blobassets.New(bucket)})
//
// It is a package of its own, so that the library's users do not get the blob
// store's dependencies with the queue.
//
// Guarantees: a missing blob is no error, so deleting twice is none; when Delete returns
// nil, none of the blobs is there. Not guaranteed: that blobs which were deleted before
// an error come back, or that a store with versioned objects forgets them. No statements
// are sent to a database.
//
// Open this package when assets lie in another kind of store.
package blobassets

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/onerow/onerow/cascade"
)

// parallel is how many blobs are deleted at a time: object stores answer in tens of
// milliseconds.
const parallel = 8

type assets struct{ bucket *blob.Bucket }

// New returns the assets that are the blobs of a bucket, by their keys. The bucket stays the caller's to
// close, after the worker has ended.
func New(bucket *blob.Bucket) cascade.Assets { return assets{bucket} }

// Delete deletes the blobs of these keys. It tries all of them and returns the
// errors joined; its goroutines have ended when it returns.
func (a assets) Delete(ctx context.Context, names []string) error {
	return each(names, func(name string) error {
		err := context.Cause(ctx)
		if err == nil {
			if err = a.bucket.Delete(ctx, name); err == nil || gcerrors.Code(err) == gcerrors.NotFound {
				return nil
			}
		}
		return fmt.Errorf("blobassets: delete %q: %w", name, err)
	})
}

// each calls fn for the names, some at a time, and returns the errors joined.
func each(names []string, fn func(name string) error) error {
	errs, slots := make([]error, len(names)), make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = fn(name)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
