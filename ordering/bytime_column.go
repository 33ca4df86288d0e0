package ordering

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/ident"
)

// Verify says whether the column is of the type that the guard needs: [ErrInvalidArgument], or the
// server's error if there is none. Call it at the start. Update says so too, but with some types
// only once it refuses: a TIMESTAMP(6) keeps a time until a session has another time zone. One
// statement, which reads no row.
func (g ByTime) Verify(ctx context.Context, db onerow.DB) error {
	if err := g.check(); err != nil {
		return err
	}
	// A row of NULL, whose type is the column's. With the table itself, ON FALSE, MariaDB reads all of it.
	query := "SELECT g." + ident.Quote(g.At) + " FROM (SELECT 1 AS n) AS one LEFT JOIN (SELECT " + ident.Quote(g.At) + " FROM " + ident.Quote(g.Table) + " LIMIT 0) AS g ON TRUE"
	return errtext.Wrap(onerow.Query(ctx, db, query, nil, g.fits), "ordering: verify table %s", g.Table)
}

func (g ByTime) wanted() string {
	if g.Datetime {
		return "DATETIME(6)"
	}
	return "BIGINT"
}

// fits holds the type of a result's first column against what is wanted. The type comes with every
// result. Where something between the driver and database/sql hides it, that is no error.
func (g ByTime) fits(rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	name := types[0].DatabaseTypeName()
	switch name {
	case "DATETIME", "TIMESTAMP", "TIME":
		if decimals, _, known := types[0].DecimalSize(); known {
			name = fmt.Sprintf("%s(%d)", name, decimals)
		}
	}
	if name == "" || name == g.wanted() || name == "UNSIGNED BIGINT" && !g.Datetime {
		return nil
	}
	return fmt.Errorf("%w: column %s.%s is %s, which does not keep the time of an update; make it %s", ErrInvalidArgument, g.Table, g.At, name, g.wanted())
}

// keepsMicroseconds is a condition on the type of the column, whatever is in it: as text, a time with six
// decimals has 26 characters. Without it an update of a NULL would apply where its time is rounded, and again
// when it is repeated. It costs no round trip.
func (g ByTime) keepsMicroseconds() string {
	return "CHAR_LENGTH(CAST(COALESCE(" + ident.Quote(g.At) + ", TIMESTAMP'1970-01-01 00:00:00') AS CHAR)) = 26"
}
