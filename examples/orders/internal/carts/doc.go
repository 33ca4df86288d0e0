// Package carts validates carts: a flow of several messages that is owned by one request.
//
//	"validate cart 7"                          the price service
//	     │                                             │
//	     ▼                                             ▼
//	Claim ─► Await "prices" + question ─► … ─► Answer + cart valid + mail + Finish   (one commit each)
//	  │ ▲
//	  │ └─ a change of the cart: Supersede, and the old run's answer is stale
//	  └─ another request validates the cart: sent again, later and later
//
// Every message may be delivered twice. [Validator.Take] and [Validator.Answered] may then be called twice: the same request
// id passes, what it sends has the id that the first run's message had, and after Finish it is done.
//
// Statements, BEGIN and COMMIT counted: Take 10, of a message that waits 6; Answered 10.
package carts
