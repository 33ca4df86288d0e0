package idempotency

import (
	"context"

	"github.com/onerow/onerow"
)

// rename gives the call the name under which its work is known. One statement for each former name: it sees
// what another call has not committed yet, by waiting for it.
func (c *call) rename(ctx context.Context, db onerow.DB) error {
	for _, key := range c.former {
		var r *row
		var err error
		for again := true; again; {
			err = single(ctx, db, func(db onerow.DB) (err error) { r, err = read(ctx, db, sqlReadCurrent, key); return atKeyOf(err) })
			again, err = c.busy(ctx, err)
			again = again && !joined(db)
		}
		if err != nil {
			return err
		}
		if r != nil && !r.Expired {
			c.key = key
			return nil
		}
	}
	return nil
}

// atKeyOf marks an error of a statement that waits at a key.
func atKeyOf(err error) error {
	if err == nil {
		return nil
	}
	return &keyWait{err}
}
