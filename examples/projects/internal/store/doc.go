// Package store is the data of the example application: accounts, their
// projects, the screens of a project with their files, comments on screens. It is
// the toolkit put to use: each method is one or two verbs of package repo, and
// everything that could go wrong in between is the toolkit's business. What is
// left for an application of its own is here: accounts, and files.
//
// # Files
//
// A file lies in a folder ([Files]) under a key that is new for every
// upload and never used again. An intent precedes it:
//
//		        blob_intent row        file              screen row, intent deleted
//		 (1) ──────► pending ──(2)──► pending ──(3)──────────► published
//		                │                │                        │ replaced by the next version:
//		   due, or the  │                │                        │ intent inserted in that commit
//		 upload failed  ▼                ▼                        ▼
//		             expired ────────────────────► file deleted, then the intent
//
//	  - A crash after any step leaves no file without a row for ever: the sweep finds
//	    the intent and deletes the file, and what was written of it so far.
//	  - It leaves no row without a file: (3) commits only if it deleted the intent
//	    while it was still pending, and the sweep turns a pending intent to expired
//	    before it touches the file.
//	  - The file of a deleted row is deleted by the cascade, before the row.
//
// An upload must end within [uploadTime], which is shorter than an intent lives.
//
// # Statements
//
//	CreateUser, SetTier      3, 4
//	CreateProject            2 more than repo's Create, and the quota's
//	Archive, Activate, …     repo's, and the quota's
//	Upload                   2 + 1 + repo's Create + 1; a new version: repo's Update
//	                         and 1 more
package store
