// Package pages is the application for people: pages rendered on the server, with
// one style sheet and one script of its own. Without the script everything but the
// progress of uploads, the countdown of an undo and the live counts of a deletion
// works; these then show after a reload.
//
//	/                        accounts
//	/users/{id}              an account's projects; ?state=archived; ?job= shows a deletion
//	/projects/{id}           a project's screens
//	/screens/{id}            a screen with its comments
//	/screens/{id}/file/…     its file, /screens/{id}/thumb/… a small picture of it
//	/jobs/{id}               how far a deletion is
//
// Every change is a POST that answers with a redirect (303), so that a reload
// repeats nothing; nor does a Delete from a tab that is out of date: it shows what became of
// the project. What a user has typed is isolated, so that it reorders nothing beside it.
// Requests that other sites' pages make are refused by package web.
package pages
