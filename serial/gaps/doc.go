// Package gaps finds the numbers of a series that nobody has, that two have, and that were voided.
//
//	found, err := gaps.Find(ctx, db, postcards) // the claims of package serial
//	tables := gaps.Table{Name: "postcard", Series: "campaign", From: "from_no", To: "to_no", Key: "id"}
//	found, err = tables.Find(ctx, db, "EURO2024") // the business rows that should have the same numbers
//	if !gaps.Complete(found) { … }
//
// A report is one statement, which reads its series once and locks nothing. Claims that commit meanwhile do
// not show as gaps. [Table] works on tables that never knew of package serial.
//
// Open this package when an auditor asks where a number is.
package gaps
