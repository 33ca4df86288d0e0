// Package carts validates carts: a flow of several messages that is owned by one request.
//
//	the customer                        "validate cart 7"                          the price service
//	     │                                   │                                             │
//	     ▼                                   ▼                                             ▼
//	Supersede + cart open + message ─► … ─► Claim ─► Await "prices" + question ─► … ─► Answer + cart valid + mail + Finish
//	                                         │                                                    (one commit each)
//	                                         └─ another request validates the cart: sent again, later and later
//
// Who makes or changes a cart takes the flow over in the commit that does it, see [Change]: from then on the
// answer to the question for the old items is stale. Left to the message, which comes later, the old run
// would make the new items valid with the old total. Every write of a run proves in its own transaction,
// first, that the run is still the owner, and what a write depends on is read behind that proof.
//
// Every message may be delivered twice. [Validator.Take] and [Validator.Answered] may then be called twice:
// the same request id passes, what it sends has the id that the first run's message had, and after Finish it
// is done.
//
// Statements, BEGIN and COMMIT counted: Take 10, of a message that waits 6; Answered 10. Inside of a
// transaction Make 6, Change 7.
package carts
