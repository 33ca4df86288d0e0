package inspect

import "database/sql"

// texts are n values that a statement reads, and where it scans them and what stands behind them.
func texts(n int, behind ...any) (values []sql.NullString, dest []any) {
	values = make([]sql.NullString, n)
	for i := range values {
		dest = append(dest, &values[i])
	}
	return values, append(dest, behind...)
}
