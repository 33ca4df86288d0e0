package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/settings"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/verify"
)

// Difference is one point in which a database is not as declared: where, what the Problem is and what depends
// on it, the Fix in words, and the statement that ends it, SQL, where one does it without harm.
type Difference = verify.Difference

// VerifyError says in which points a database is not as the plan declares it.
type VerifyError struct {
	// Database is the schema that was looked at.
	Database string
	// Differences are at least one, table by table in the order of the plan, the toolkit's tables last.
	Differences []Difference
}

// Error lists all differences, one on a line.
func (e *VerifyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schema: the database %q is not as the plan declares it (%d):", e.Database, len(e.Differences))
	for _, d := range e.Differences {
		b.WriteString("\n  " + d.String())
	}
	return b.String()
}

// Verify holds the current database of db against the plan and the toolkit's own
// tables, and returns a [VerifyError] that names each difference and what to do
// about it, or nil. A program calls it when it starts and does not go on otherwise.
//
// It looks for what the toolkit relies on: tables and columns, types where they matter, indexes that do what
// the declared ones do (under any name; a unique one needs exactly the declared columns), InnoDB; and for
// what would get in the way: unique indexes, foreign keys, triggers and columns that the plan does not know.
// Allowed is a foreign key from a table of the plan to one outside that only restricts. Defaults, collations
// and the order of columns are not looked at.
//
// Of a [schema.Table] and of further parents it looks at less and more: the primary key and whether its
// values can be held; for each edge its columns, their types and collations against those above, an index
// that begins with them, a unique key above, NULL where it detaches; an archive that holds all columns;
// triggers that run with the worker's writes, unless the plan accepts them; and that each foreign key that
// leads to a row that is deleted is an edge of the plan. A CASCADE that is an edge that deletes is allowed,
// for the worker deletes the rows before it could fire, and so is a SET NULL that is an edge that detaches;
// any other one is hidden, and refused.
//
// It begins with pool.Check and refuses settings of the session or the server under which a promise
// cannot hold, with pool.ErrSetting. So it does with a server of Galera, or of Group Replication with
// several primaries, where the plan has parents and does not say [schema.Plan.Cluster].
//
// An id is given once: an AUTO_INCREMENT at or below the highest id in the archive, or in what the toolkit
// keeps of its jobs and deletions, is a difference, and so is one at the end of its type. Tools that rebuild
// a table by a copy, and restores of data alone, leave it so. Of deletions only the last hundred jobs are
// looked at, open and archived. Rows are not read otherwise, so it does not know ids that both tables have.
//
// What could change a value (TIMESTAMP to DATETIME, NULL to NOT NULL, another character set, a key of names
// that is not there) is no statement at the end of a Fix: it is said in words, in order, and Verify then says
// what is next.
//
// SELECT on the tables is enough to read what is there; [VerifyPrivileges] says whether something is not
// shown. Toolkit tables on which the user has no right are left out. Other errors: [schema.ErrInvalidPlan],
// and the driver's.
func Verify(ctx context.Context, db onerow.DB, plan schema.Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	if err := settings.Check(ctx, db, needs(plan)...); err != nil {
		return fmt.Errorf("schema: verify: %w", err)
	}
	found, said, err := verify.Compare(ctx, db, plan)
	if err != nil {
		return fmt.Errorf("schema: verify: %w", err)
	}
	if len(said) == 0 {
		return nil
	}
	e := &VerifyError{Database: found.Name}
	for _, s := range said {
		e.Differences = append(e.Differences, s.Difference)
	}
	return e
}

// needs are what the server must keep for a plan: without guards a lock on the parent keeps rows from coming
// below one that is deleted.
func needs(p schema.Plan) []settings.Need {
	if p.Cluster || !slices.ContainsFunc(p.Resources, func(r schema.Resource) bool { return r.Parent.Resource != "" }) {
		return nil
	}
	return []settings.Need{settings.RowLocks}
}
