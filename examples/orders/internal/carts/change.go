package carts

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

func runOf(cart int64, request string) flow.Run {
	return flow.Run{Flow: flowPrefix + strconv.FormatInt(cart, 10), RequestID: request}
}

// Make makes a cart and has it validated by the request, an id that is made for this call: it owns the cart's
// flow from this commit on. Statements: 6.
func Make(ctx context.Context, tx *onerow.Tx, tenant string, items []string, request string) (store.Cart, error) {
	c, err := store.InsertCart(ctx, tx, tenant, items)
	if err != nil {
		return c, err
	}
	if _, err := flow.Supersede(ctx, tx, runOf(c.ID, request)); err != nil {
		return c, err
	}
	return c, send(ctx, tx, c.ID, request)
}

// Change replaces the items of a cart and has it validated anew. The run that validates the old items is
// superseded in this very transaction, not when the message arrives: in between its answer would make the new
// items valid with the old total. And it is superseded first, as the writes of a run are proven first: they
// wait here, or this call waits for them. Statements: 7, without a run 6.
func Change(ctx context.Context, tx *onerow.Tx, c store.Cart, request string) error {
	res, err := flow.Supersede(ctx, tx, runOf(c.ID, request))
	if err != nil || res.Replayed { // an earlier call superseded, so it has changed the cart as well
		return err
	}
	if err := store.ChangeCart(ctx, tx, c); err != nil {
		return err
	}
	return send(ctx, tx, c.ID, request)
}

// send sends the message of a request, whose id is the message's.
func send(ctx context.Context, tx *onerow.Tx, cart int64, request string) error {
	body, err := json.Marshal(Task{Cart: cart})
	if err == nil {
		_, err = store.Send(ctx, tx, store.Message{ID: request, Queue: store.QueueCarts, Body: string(body)})
	}
	return err
}
