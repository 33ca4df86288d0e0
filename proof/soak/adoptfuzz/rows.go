package adoptfuzz

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// row is a row of the table or of its archive, once it is a resource.
type row struct {
	id, token, desk, price, version, copyNo int64
	title                                   string
	key, stem                               string
	created, updated                        int64  // microseconds since 1970
	rest                                    string // what nobody changes
}

// tables are all rows of a round.
type tables struct {
	tickets, archive []row
	notes            map[int64]int64         // from their own token to the id above
	twice            []int64                 // notes that are there twice
	watches          map[int64]sql.NullInt64 // from their id to the id above
}

// restOf is what each row has in the columns that nobody changes.
func restOf(token int64, priority string) string {
	return "won't fix|" + bodyOf(token) + "|1999-12-31 23:59:59" + priority
}

// read reads all rows.
func (r *round) read(ctx context.Context) (t tables, err error) {
	priority := ""
	if r.final == column {
		priority = ", priority"
	}
	columns := `id, token, desk_id, price, version, copy_no, title, title_key, stem_key,
 TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', updated_at), CONCAT_WS('|', state, body, closed_at` + priority + `)`
	for name, into := range map[string]*[]row{"tickets": &t.tickets, "tickets_archive": &t.archive} {
		err = onerow.Query(ctx, r.admin, "SELECT "+columns+" FROM "+r.table(name)+" ORDER BY id", nil, func(rows *sql.Rows) error {
			var w row
			err := rows.Scan(&w.id, &w.token, &w.desk, &w.price, &w.version, &w.copyNo, &w.title, &w.key, &w.stem, &w.created, &w.updated, &w.rest)
			*into = append(*into, w)
			return err //nolint:wrapcheck // it says all
		})
		if err != nil {
			return t, fmt.Errorf("soak: %s: %w", name, err)
		}
	}
	t.notes, t.watches = map[int64]int64{}, map[int64]sql.NullInt64{}
	err = onerow.Query(ctx, r.admin, "SELECT token, ticket_id FROM "+r.table("note"), nil, func(rows *sql.Rows) error {
		var token, id int64
		err := rows.Scan(&token, &id)
		if _, there := t.notes[token]; there {
			t.twice = append(t.twice, token)
		}
		t.notes[token] = id
		return err //nolint:wrapcheck // it says all
	})
	if err == nil {
		err = onerow.Query(ctx, r.admin, "SELECT id, ticket_id FROM "+r.table("watch"), nil, func(rows *sql.Rows) error {
			var id int64
			var above sql.NullInt64
			err := rows.Scan(&id, &above)
			t.watches[id] = above
			return err //nolint:wrapcheck // it says all
		})
	}
	return t, err //nolint:wrapcheck // it says all
}
