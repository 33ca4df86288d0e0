// Package carts validates carts: a flow of several messages that is owned by one request.
//
//	the customer                        "validate cart 7"                          the price service
//	     │                                   │                                             │
//	     ▼                                   ▼                                             ▼
//	Supersede + cart open + message ─► … ─► Claim ─► Await "prices" + question ─► … ─► Answer + cart valid + mail + Finish
//	                                         │                                                    (one commit each)
//	                                         └─ another request validates the cart: sent again, later and later
//
// A request that makes or changes a cart takes the flow over in the same commit, see [Change]. From then on
// the answer to the question for the old items is stale. Left to the message, which comes later, the old run
// would make the new items valid with the old total. Every write of a run proves in its own transaction,
// first, that the run is still the owner, and what a write depends on is read behind that proof.
//
// Every message may be delivered twice. [Take] and [Answered] may then be called twice:
// the same request id passes, what it sends has the id that the first run's message had, and after Finish it
// is done.
//
// Statements, BEGIN and COMMIT counted: Take 10, of a message that waits 6; Answered 10. Inside of a
// transaction Make 6, Change 7.
package carts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

// flowPrefix and a cart's id are the name of the cart's flow.
const flowPrefix = "cart/"

func runOf(cart int64, request string) flow.Run {
	return flow.Run{Flow: flowPrefix + strconv.FormatInt(cart, 10), RequestID: request}
}

func cartOf(r flow.Run) (int64, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.Flow, flowPrefix), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("carts: %q is no cart's flow: %w", r.Flow, err)
	}
	return id, nil
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
	_, err := store.Send(ctx, tx, store.Message{ID: request, Queue: store.QueueCarts, Body: runOf(cart, request).Flow})
	return err
}
