// Package page is the operator's page of the cascade as an [http.Handler]: what is queued and at work, what
// failed and why, what is in the trash; with buttons to retry, skip, pause, cancel, undo, restore and delete.
//
//	p, err := page.New(page.Options{DB: db, Plan: plan, Prefix: "/admin", Tokens: tokens})
//	mux.Handle("/admin/", http.StripPrefix("/admin", p))
//	go p.Run(ctx)
//
// It shows what the database has, whichever process works it: cascade-worker run --http serves the same page
// beside its work. [Page.Run] counts what is left of jobs, does the restores that were asked for, and
// remembers the last hours; without it none of that is done.
//
// # Who may what
//
//   - A token of Options.Tokens may look and act, one of ReadTokens may look. People sign in with it by the
//     form, or by HTTP's basic authentication: the user is the token's name, the password the token (/basic
//     has a browser ask). Programs send it as a bearer, or as user and password.
//   - A proxy that has signed somebody in says so in a header, ProxyUser. It is believed from the addresses
//     in Proxies only, by the connection's own address: X-Forwarded-For counts for nothing. A header that is
//     empty, or there twice, counts for nothing. If a token comes along, it says what may be done.
//   - Without tokens and proxies everybody sees all, and nobody does anything unless Local is true.
//
// # What is promised
//
//   - With tokens or proxies nobody sees or does anything who is not one of these, except for /healthz,
//     /readyz and the ways to sign in. Wrong tokens are answered slowly, however they come, but not beside
//     a proxy's word: that lets in by itself.
//   - Who may only look changes nothing: one place refuses every post but the sign-in's own, before it is
//     looked at. No button is shown to him.
//   - A post from another site is refused in every case; one that does not say where it comes from needs a
//     bearer: a cookie, a password and a proxy's word travel with what a browser is led to.
//   - What a button does is written down with the token's name and the reason that was typed: see
//     admin.ReadReport and queue.ListActions, of keys keyadmin.Audit.
//   - All dead jobs are retried, and all deletions of a resource in grace taken back, 500 at a time: it is
//     asked before, with their number, and done to none that came later. Each is decided by its own
//     statement; what was not done is told, and why.
//   - However many look at the board, it is read once a second at most, and not while nobody looks.
//   - An answer is rendered before its first byte is sent. No data gets into it unescaped, and nothing from
//     elsewhere.
//
// # The last hours
//
// [Page.Run] reads the queue's figures once a minute: how many jobs have ended, and how long the oldest one
// has been due. A day of that is kept in memory, 1440 points, and drawn. It begins with the process and ends
// with it, each process has its own; Prometheus is for more, see package prommetrics.
//
// # Not guaranteed
//
//   - That a sign-in outlives the process, or counts in another one: requests of one person have to reach the
//     process that he has signed in at, or carry a token.
//   - That a proxy takes away a client's own header: it has to, or a listed address lets everybody in.
//   - How long a job will take: what is left of the count, by the rate of the last 20 seconds. Nothing is
//     said while one of the two is not known.
//   - Times of clients: the [http.Server] has to set its own, as cascade-worker does.
//
// # Statements
//
// The board sends 12 statements, 2 more if any job is open, 1 if anything is paused, and 1 for each other
// kind of job that there is; Run 1 a minute, admin.ReadStats, and what it counts and restores; /retention
// those of the catalog, then 2 for each policy; lists of keys, series, limits and messages 1 a page, one key
// 2, one series 2; /readyz what live.Verify and migrations.Status document, every 15 seconds at most; a
// button what its package documents: queue, admin, repo for undo, cancel and restore, keyadmin for keys.
//
// Open caller.go for who it is, guard.go for who may look and who may press, routes.go for all addresses,
// watch.go for what is read, view.go and view_job.go for how it is put into words, act.go for what a button
// does, ask.go for what is asked before, remaining.go and restore.go for what goes on beside.
//
// Open this package when an operator is to see or do something in a browser.
package page
