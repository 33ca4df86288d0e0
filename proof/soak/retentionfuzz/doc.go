// Package retentionfuzz lets rows get old while the clock changes, and has users write, delete and bring back
// what is due:
//
//	go run -C proof ./soak retention -minutes 20 -seed 7
//	go run -C proof ./soak retention -minutes 20 -rows 1000000 -seed 7
//
// A seed draws a time zone, and for five tables how long rows stay, the rate and the windows. The columns are
// DATETIME, DATE and TIMESTAMP, some tables have rows below, some a trash. The server has a clock of its own,
// by libfaketime, which is put from one side of a change of that zone's clock to the other, first through the
// one in the first half of a year and then through the one in the second half. Sessions are in four time
// zones, one of them that of the policies, and at both levels of isolation. Meanwhile:
//
//	workers    in processes of their own; all but one get SIGKILL now and then
//	sessions   of workers and users are killed, and so are their statements
//	users      touch rows so that they are young, or nearly due, in transactions that last and that are rolled
//	           back; insert rows; delete them by SQL and by the queue; bring back what went, or is going; take
//	           back deletions that retention has queued
//
// Triggers note each insert, update and delete of a row in the transaction that does it, and so they note
// when a job begins and when a policy takes its turn. A row carries the number of the user's write that it
// has from last, and the users' journal says, from before the write on, since when the row is as old as it
// says.
//
// At the end the clock is moved from window to window until nothing is due.
//
// # What is judged
//
//   - No job has deleted a row that was younger than it may be when that job looked at it: at the moment of
//     the deletion where it goes in the job's first batch. An age counts from the moment that the user meant,
//     not from what the column shows. Of a TIMESTAMP it counts from what is stored: where a session's zone
//     repeats an hour the server itself takes one instant for the other.
//   - A row that was brought back, or of which a deletion was taken back, stays as long once more.
//   - Every row that is due at the end is gone, no job is open or dead, no row is parked.
//   - The trash has each row that went and did not come back, once, with what was below it, in the version
//     that went; what came back was in it. Below what is gone is nothing.
//   - A policy had its turns while its window was open, by an arithmetic of windows of this package, give or
//     take the time of a page; and the audit has no row that was queued without a turn just before.
//   - Users' writes are there if that was answered, and not if they were refused.
//   - No worker ends by itself.
//   - No worker process has more than -memory MB resident, and the one that is never killed has, in the
//     second half of the load, at most half as much again as in the first, and 16 MB.
//
// # What was measured
//
// With 1,000 to 3,000 rows and no race detector a worker had 18 to 21.3 MB at most on MariaDB 10.11 and MySQL
// 9, nearly all of it the program itself. A page has 500 rows and a claim up to 100 jobs, however many rows
// are due, so a million rows should not add to that. The bound is three times as much: 64 MB. The race
// detector needs another one.
//
// # What it cannot show
//
//   - A row that a job spares although it is due: its next look may find it.
//   - Three seconds: a job may wait so long for the row's lock between its note that it has begun and its
//     look. A row that was up to three seconds too young by then passes. Rows that go in the batch of the
//     look are judged by the microsecond.
//   - Which of two took a row that users have asked to delete, too. Such rows are counted and not judged.
//   - A clock that goes backwards, and the crash of a server: restores and users' writes have other programs.
//   - Resources with an archive: created_at and archived_at are UTC, which no clock changes.
//
// Open this package when retention deletes too early, too late or outside of its window.
package retentionfuzz
