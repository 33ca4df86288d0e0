// Package trash keeps what jobs delete, each batch in its own transaction: locked rows are copied by their
// keys on the server's side, deleted by the same keys, and noted in onerow_trash, or nothing of the batch
// happens. Package restore brings them back.
//
// Rows are kept under the job and a step, which grows with each statement that keeps some. Deletion goes
// from the leaves to the root and no statement of it breaks a foreign key; so the steps, taken from the last
// to the first, put each row below rows that are there. References that are cut are steps of their own.
//
// A step below 0 says how many rows of the step without the minus have come back, StepEnded that the job was
// done when its restore began. They stay as long as jobs are remembered; a step goes when it is purged.
//
// Open this package when what is kept of a deleted row, or for how long, changes.
package trash
