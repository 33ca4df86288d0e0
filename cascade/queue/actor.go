package queue

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// longestActor is the length of the column, in bytes.
const longestActor = 255

type actorKey struct{}

type actor struct{ name, reason string }

// WithActor says who acts, and why, to what is called with the context: a middleware knows that, and a
// delete passes it on. What these calls change they note in onerow_action, in the same transaction: [Log],
// [EnqueueMany], [Cancel], [Retry], [RetryParked], [SkipParked], recover.Rows, admin.ExpireTrash,
// admin.Pause, [PauseJob] and their ends, and so repo.Delete, its Undo and
// recover.Job. It is one statement more, and on a pool a transaction where there was none; without an actor
// nothing is noted. admin.ReadReport reads it.
//
// The name is cut to 255 bytes, the reason to 2000; what is not UTF-8 in them is replaced. An empty name
// takes the actor away.
func WithActor(ctx context.Context, name, reason string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor{dbtext.Fit(name, longestActor), dbtext.Fit(reason, fault.MaxText)})
}

func actorOf(ctx context.Context) (a actor, known bool) {
	a, _ = ctx.Value(actorKey{}).(actor)
	return a, a.name != ""
}

// Noted runs fn, and notes the action that it returns, unless that is the zero value: without an actor fn is
// all there is, with one both are in one transaction.
func Noted(ctx context.Context, db onerow.DB, fn func(ctx context.Context, db onerow.DB) (Action, error)) error {
	if _, known := actorOf(ctx); !known {
		_, err := fn(ctx, db)
		return err
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		a, err := fn(ctx, tx)
		if err != nil || a.Action == "" {
			return err
		}
		return act(ctx, tx, a)
	})
}
