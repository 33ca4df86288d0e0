// Package load feeds a folder tree to a running application through its JSON
// interface: each folder becomes a project, called as its path below the root, and each file a
// screen. It is a client like any other, and an example of an honest one:
//
//   - A request that got no answer, or 503, is sent again after Retry-After, the
//     creation of a project with the same Idempotency-Key.
//   - A project that exists already is found by the 409's existing_id, so loading
//     twice is loading once, but for one more version of each file.
//   - What the application refuses (a name, a size) is counted and listed, and is no
//     failure. What failed in spite of all is one.
//
// [Config].Delete deletes the projects of the same folders and waits until the last
// row and file below them is gone.
package load
