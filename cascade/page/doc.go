// Package page is the operator's page of the cascade as an [http.Handler]: what is queued and at work, what
// failed and why, what is in the trash; with buttons to retry, skip, pause, cancel, undo, restore and delete.
//
//	p, err := page.New(page.Options{DB: db, Plan: plan, Prefix: "/admin", Tokens: tokens})
//	mux.Handle("/admin/", http.StripPrefix("/admin", p))
//	go p.Run(ctx)
//
// It shows what the database has, whichever process works it: cascade-worker run --http serves the same page
// beside its work. [Page.Run] counts what is left of jobs, and does the restores that were asked for; without
// it neither is done.
//
// # What is promised
//
//   - With tokens nobody sees or does anything without one, except for /healthz, /readyz and the form that
//     asks for it. Without, everybody sees all, and nobody does anything unless Local is true. A post from
//     another site is refused in every case. Wrong tokens are answered slowly.
//   - What a button does is written down with the token's name and the reason that was typed: see
//     admin.ReadReport and queue.ListActions.
//   - However many look at the board, it is read once a second at most, and not while nobody looks.
//   - An answer is rendered before its first byte is sent. No data gets into it unescaped, and nothing from
//     elsewhere.
//
// # Not guaranteed
//
//   - That a sign-in outlives the process, or counts in another one: requests of one person have to reach the
//     process that he has signed in at, or carry a token as a bearer.
//   - Times of clients: the [http.Server] has to set its own, as cascade-worker does.
//
// # Statements
//
// The board sends 10 statements, 2 more if any job is open, and 1 for each other kind of job that there is;
// /readyz what live.Verify and migrations.Status document, every 15 seconds at most; a button what package
// cascade, and repo for undo, cancel and restore, document.
//
// Open guard.go for who may look and who may press, watch.go for what is read, view.go and view_job.go for
// how it is put into words, act.go for what a button does, ask.go for what is asked before, remaining.go and
// restore.go for what goes on beside.
//
// Open this package when an operator is to see or do something in a browser.
package page
