// Package live holds a plan against a live server: how its tables differ from the plan, how to mend that, and
// which rights the user has.
//
//	if err := live.Verify(ctx, db, plan); err != nil {
//		return err // each difference is on a line of its own, with what to do about it
//	}
//
// [Verify] is called when a program starts. Package catalog has what a program that makes statements needs of
// the tables.
//
// [Privileges] are the least rights of a worker, [VerifyPrivileges] proves them on the live database, without
// a write.
//
// # What is guaranteed
//
//   - Nothing here changes a table or a row. Of rows the highest ids are read only.
//   - The statement at the end of a fix has been tried on tables with rows; where none does it without harm,
//     the fix says in words what to do.
//
// # Not guaranteed
//
//   - It sees what its user is shown: not triggers without the right TRIGGER, not tables without any right,
//     not what has changed since it looked. [Access].Blind says what may not be shown.
//   - It does not know rows that refer to nothing.
//
// # Statements
//
//	Verify             11, on MySQL 10 and 1 for each table that numbers its rows and has an archive; 1 more for
//	                   each table that is not shown, or of which a column is to be changed
//	VerifyPrivileges   2, and 1 for each right
//
// Open this package when a program asks whether its database fits its plan.
package live
