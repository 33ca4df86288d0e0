package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// rows are those of a tree, or of all trees: what the oracle knows, or what the tables have. The key says
// table and key, the value all else; a row that is there twice has both values.
type rows map[string]string

// add notes a row. Values of the two tables of a resource are told apart by state, where there is one.
func (r rows) add(table string, key any, value string) {
	name := fmt.Sprint(table, " ", key)
	if before, twice := r[name]; twice {
		value = before + " AND " + value
	}
	r[name] = value
}

// differences are what the tables have and should not, or should and have not.
func (r rows) differences(want rows) (all []string) {
	for name, value := range want {
		switch have, there := r[name]; {
		case !there:
			all = append(all, fmt.Sprintf("%s is gone, it was %s", name, value))
		case have != value:
			all = append(all, fmt.Sprintf("%s is %s, it was %s", name, have, value))
		}
	}
	for name, value := range r {
		if _, known := want[name]; !known {
			all = append(all, fmt.Sprintf("%s is there: %s", name, value))
		}
	}
	return all
}

// state is where a tree is.
type state int

const (
	alive   state = iota
	deleted       // its job is queued, at work or done
	opened        // a restore of it has failed, and is to be called again
)

// tree is a project with what is below it. One client alone changes it.
type tree struct {
	id, user  int64
	name      string
	body      string
	archived  bool
	tickets   map[int64]*leaf
	notes     map[[2]int64]string
	links     map[int64]string
	state     state
	job       int64
	restored  int // restores that were begun of this deletion
	deletions int
}

// leaf is a ticket.
type leaf struct {
	title, body string
	archived    bool
	mine        bool // made by the repository, with its key
}

func where(archived bool) string {
	if archived {
		return "archived"
	}
	return "active"
}

// want are the rows that must be there. Of a deleted tree links are left.
func (t *tree) want(all rows) {
	up := any(t.id)
	if t.state != alive {
		up = "NULL"
	}
	for id, body := range t.links {
		all.add("link", id, fmt.Sprintf("below %v: %s", up, body))
	}
	if t.state != alive {
		return
	}
	all.add("project", t.id, fmt.Sprintf("%s, of %d: %s %s", where(t.archived), t.user, t.name, t.body))
	for id, k := range t.tickets {
		all.add("ticket", id, fmt.Sprintf("%s, below %d: %s %s", where(k.archived), t.id, k.title, k.body))
	}
	for key, body := range t.notes {
		all.add("note", key, body)
	}
}

// below is how many rows a deletion of the tree takes beside the project.
func (t *tree) below() int64 { return int64(len(t.tickets) + len(t.notes)) }

// sqlRows read all tables in the form of want. A condition is put in for %s: the project's column is p, links
// are found by their own ids.
const (
	sqlProjects = `SELECT 'project', CAST(id AS CHAR), CONCAT(place, ', of ', user_id, ': ', name, ' ', body) FROM
(SELECT 'active' AS place, id, user_id, name, body FROM project UNION ALL SELECT 'archived', id, user_id, name, body FROM project_archive) AS p WHERE id > 0 %s`
	sqlTickets = `SELECT 'ticket', CAST(id AS CHAR), CONCAT(place, ', below ', project_id, ': ', title, ' ', body) FROM
(SELECT 'active' AS place, id, project_id, title, body FROM ticket UNION ALL SELECT 'archived', id, project_id, title, body FROM ticket_archive) AS t WHERE id > 0 %s`
	sqlNotes = `SELECT 'note', CONCAT('[', ticket_id, ' ', n, ']'), body FROM note WHERE n > 0 %s`
	sqlLinks = `SELECT 'link', CAST(id AS CHAR), CONCAT('below ', COALESCE(project_id, 'NULL'), ': ', body) FROM link WHERE id > 0 %s`
)

// read reads what the tables have of a tree; nil: of all.
func read(ctx context.Context, db onerow.DB, t *tree) (rows, error) {
	all := rows{}
	for _, q := range []struct{ query, of string }{
		{sqlProjects, "AND id IN (%s)"}, {sqlTickets, "AND id IN (%s)"}, {sqlNotes, "AND ticket_id IN (%s)"}, {sqlLinks, "AND id IN (%s)"},
	} {
		condition := ""
		if t != nil {
			condition = fmt.Sprintf(q.of, t.ids(q.query))
		}
		err := onerow.Query(ctx, db, fmt.Sprintf(q.query, condition), nil, func(r *sql.Rows) error {
			var table, key, value string
			err := r.Scan(&table, &key, &value)
			all.add(table, key, value)
			return err //nolint:wrapcheck // it says all
		})
		if err != nil {
			return nil, fmt.Errorf("soak: read: %w", err)
		}
	}
	return all, nil
}

// ids are the tree's own for one of the queries.
func (t *tree) ids(query string) string {
	ids := []string{"0"}
	switch query {
	case sqlProjects:
		ids = append(ids, fmt.Sprint(t.id))
	case sqlLinks:
		for id := range t.links {
			ids = append(ids, fmt.Sprint(id))
		}
	default:
		for id := range t.tickets {
			ids = append(ids, fmt.Sprint(id))
		}
	}
	return strings.Join(ids, ", ")
}

// copySuffix ends the name of a copy.
const copySuffix = "_gho"

// refused says whether a call has done nothing and may be made again: the server refused it. errGaveUp is of
// the client itself. MySQL refuses a statement that has waited for the table of before, whose triggers write
// into a copy that has another name by now.
func refused(err error) bool {
	const noSuchTable = 1146
	return onerow.Retryable(err) || errors.Is(err, context.DeadlineExceeded) || mysqlerr.Number(err) == noSuchTable && strings.Contains(err.Error(), copySuffix)
}
