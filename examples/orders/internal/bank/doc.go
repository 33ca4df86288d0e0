// Package bank is the payment service of the example: an HTTP server of its own that charges whoever asks, as
// often as it is asked. It knows no idempotency keys, so its ledger shows what the shop did.
//
//	POST /charges {"reference","amount","card"}   201 {"id"}, 402 declined, 500, no answer, a late one
//	GET  /charges?reference=…                     the charges that it made, for whoever has to find out
//
// How it answers depends on the card, see [Cards]; the card "any" takes one of them, by the seed and the
// reference. What a card does to the first request of a reference only, it does once, also when the bank was
// stopped in between.
//
// A charge whose client did not wait for the answer is told to the shop as a notice (a web hook), sent again
// until the shop takes it. [Bank.Down] makes the bank unreachable.
package bank
