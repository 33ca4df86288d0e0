// Package httpkey is net/http middleware after the IETF draft "The Idempotency-Key HTTP Header Field": a
// client sends a key with a request and may then send that request again until it has an answer. The work is
// done once, and every repetition gets the first answer.
//
//	mw, err := httpkey.New(db, keys, httpkey.Config{Tenant: userOf})
//	mux.Handle("POST /orders", mw.OneCommit(http.HandlerFunc(createOrder)))  // work in this database
//	mux.Handle("POST /charges", mw.TwoStep(http.HandlerFunc(chargeCard)))    // work outside of it
//
// # The two forms
//
// [Middleware.OneCommit] is idempotency.Do. The handler writes through [Tx], and its rows, the key and the
// answer commit together; only then is the answer sent:
//
//	BEGIN ─ key row ─ handler ─┬─ 2xx, 3xx, and 4xx without Tx ── answer stored ─ COMMIT ─ answer sent
//	                           ├─ 4xx after Tx ─ ROLLBACK ─ answer stored anew, in a commit of its own ─ answer sent
//	                           └─ refused, 307, 308, 5xx, panic, NotDone, no answer that can be stored ─ ROLLBACK: no key, no rows
//
// [Middleware.TwoStep] is idempotency.Begin, then Complete, Fail or Release, each committed by itself:
//
//	Begin ─ handler ─┬─ 2xx, 3xx, 4xx ─────── complete: answer stored ─────── answer sent
//	                 ├─ refused, NotDone ──── released: the same request again does the work ─ answer sent
//	                 ├─ 307, 308 ──────────── released, for any request: the client follows with the key ─ answer sent
//	                 ├─ 5xx ───────────────── error, marked for attention, answer stored ─ answer sent
//	                 ├─ no answer that can be stored ─ error, marked for attention ─ 500, or the answer
//	                 └─ panic ─────────────── error, marked for attention ─── the panic goes on
//
// What is stored is Config.Stored's to say; this is its default, after the draft ("the result of the
// previously completed operation, success or an error") and Stripe's API (results are stored, 500 included,
// once the work has begun; what fails validation or collides with another request is not). Refused is a 4xx
// of [Refused], as 400, 401, 409, 422 and 429: a handler that answers so says that it has done nothing yet.
// One that calls elsewhere and passes such a status on must not be wrapped without a Stored of its own. A 307
// or 308 sends the same request elsewhere and is no outcome either. [NotDone] says that nothing was done,
// whatever the status, a panic or a misuse say.
//
// # Answers
//
//	the request                                      answer                              handler runs
//	GET, HEAD, OPTIONS, TRACE, QUERY, CONNECT        the handler's, the key is ignored   yes
//	no key                                           400 ProblemKeyMissing               no
//	no key, Config.Optional                          the handler's, not stored           yes
//	a key that is malformed, empty, too long, sent twice   400 ProblemKeyMalformed       no
//	Config.Tenant says no                            403 ProblemTenant                   no
//	body above Config.MaxRequest                     413 ProblemRequestTooLarge          no
//	body that cannot be read                         400 ProblemRequestUnreadable        no
//	new key                                          the handler's                       yes
//	key that was answered                            the stored one, Idempotency-Replayed: true   no
//	key with another method, host, path, query or body   422 ProblemMismatch             no; also of a released key
//	a mux inside has no route, or a redirect         the mux's, the key is not looked at no
//	key in flight, TwoStep                           409 ProblemInFlight, Retry-After    no
//	key in flight, OneCommit                         waits for Config.Wait and gets the answer; then 409 as above
//	key marked for attention, with a stored 5xx      that one, Idempotency-Replayed: true   no
//	key marked for attention, without an answer      409 ProblemUnclear, no Retry-After  no
//	the database cannot be asked                     503 ProblemStore, Retry-After       no
//	COMMIT without an answer, OneCommit              503 ProblemStore, Retry-After       its rows committed or not: the same key finds out
//	answer above Config.MaxResponse, or of a status that no answer has   500 ProblemUnstorable   yes, see the forms
//	a stored answer cannot be read, wrong use        500 ProblemInternal                 no
//	new key, TwoStep, the answer could not be stored the handler's, Idempotency-Unrecorded: true   yes
//
// All but the handler's are application/problem+json (RFC 9457). None repeats what the client sent.
//
// # The key, its scope and the payload
//
// A key is sent as a structured-field string, "8e03978e", or raw, 8e03978e: both are one key, of 1 to 255
// bytes; see [ParseKey]. It belongs to a tenant ([Config].Tenant), a method and a route (the pattern of
// http.ServeMux, where a wildcard may be renamed). The method, the host without its port, the path (as it was
// sent, and below http.StripPrefix), the query and the body make the fingerprint; of a multipart form the
// parts, not the boundary. [Config].Fingerprint replaces all but the method, where a service has aliases, or
// a client sends what changes with each try. The body is read before anything is done.
//
// # Guarantees
//
//   - For one tenant, route and key the handler's rows commit once in OneCommit, and in TwoStep the handler
//     runs once, however often the request is sent, at the same time or after a cut connection; except that a
//     request whose work was not done (refused, NotDone, an operator's release) or whose Config.Lease has
//     ended lets the next one run.
//   - A replay has the first answer's status, its body byte by byte, and the headers that [Config].Headers
//     names. Set-Cookie is never stored; other headers go to the first client only.
//   - No byte of the handler's answer is sent before it is stored, or its transaction committed.
//   - Without the database no handler runs (fail closed), except where a request may have no key.
//   - Requests that wait for one key hold one connection in each process: the others wait in memory, in their
//     order, for Config.Wait, however often the server ends a wait for a lock.
//   - A client that goes away loses nothing: until the handler runs, nothing was done. From then on the
//     handler's context ends only after Config.Timeout; the work is finished and its answer stored.
//
// # Not guaranteed
//
//   - That a 4xx after Tx is stored: a process that dies between the ROLLBACK and the answer's own commit
//     leaves no key and no rows. If another request gets in between, both clients may get its answer.
//   - That OneCommit enters the handler once: the server may refuse its transaction, which is then run again
//     with the same request. Effects outside of Tx belong into TwoStep.
//   - That the work of TwoStep ends: a process that dies, or a database that is silent for longer than
//     Config.Wait while the key is claimed, leaves the key in progress. The gauge of overdue keys rises; an
//     operator or a lease decides.
//   - Streaming: an answer is kept in memory until it is stored. Flush and Hijack are errors ([ErrBuffered]),
//     1xx answers are dropped, trailers are not sent. A request without a key passes through TwoStep with all
//     of them.
//   - A handler that ignores its context is not stopped. In OneCommit it holds one connection meanwhile; one
//     that takes a second can starve a small pool.
//   - That a process of the version before, whose fingerprints had no host, knows a request of this one: it
//     answers 422, and nothing is done. What it stored is answered, also for another host or stripped prefix.
//   - That a key is known under another name of its route: let Config.Route give the old name for as long as
//     keys are kept. Before 2026-11-22 the names of wildcards counted.
//   - That a redirect or a 404 of a router inside without a method Handler (http.ServeMux has one) is told
//     from the handlers': a 301 or 404 is stored, a 307 or 308 is not.
//
// Set http.Server.ReadTimeout against slow bodies. Middleware that consumes the body (r.FormValue) must be
// inside of this one; authentication outside. How long keys are kept is idempotency.Config.Keep: publish it.
//
// # Statements
//
// BEGIN, ROLLBACK and COMMIT count; the handler's own do not.
//
//	OneCommit  4   4xx after Tx 5   replay 4   mismatch 5   not stored 3   not stored after Tx 4
//	OneCommit without a key  2   4xx after Tx 3
//	TwoStep    2   replay, in flight, mismatch 2   without a key 0
//	either, of a key that this process has seen end: replay 1, mismatch 2
//	1 more for a replay of a key of the version before, whose fingerprints had no host
//
// Open this package when a request is taken for another one, or an answer is stored that should not be.
package httpkey
