// Package shop is the order API.
//
//	POST /orders item, amount, card   charges and makes an order; httpkey.TwoStep
//	GET  /orders/{id}
//	POST /carts items, items, …       makes a cart and the message that has it validated; httpkey.OneCommit
//	PUT  /carts/{id} items, items, …  changes it, and the validation that runs is superseded; httpkey.OneCommit
//	GET  /carts/{id}
//	POST /bank/notices                late answers of the bank, JSON
//
// Requests are forms, as HTML and Stripe's clients send them; answers are JSON. The customer is whoever has
// the API key of the Authorization header.
//
// # What an order answers, and what becomes of its key
//
//	the bank                          order         answer   key
//	has charged                       paid          201      complete
//	has declined                      declined      402      complete
//	was not reached                   not_charged   503      released: the next request charges
//	gave no answer, or not in time,   unclear       502      error, for attention; the same 502 from then on
//	or one that says nothing
//	was not asked: another order      as it was     422      released
//	was made under the key
//
// The bank is asked for what the order's row says, which was written under the key before: also when the key
// was released or has expired, and the middleware lets another payload pass.
//
// An unclear order is settled by [Shop.Resolve], an operator's verb, or by the bank's late notice: they ask
// whether there is a charge and end the key and the order in one transaction, only while the key is still as
// they saw it.
//
// Not guaranteed: that the bank has finished with a request when it is asked about it. It may answer "no
// charge" and charge afterwards; so release a key only when the bank has had time.
package shop
