package quota

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/schema"
)

// statements are the rule's statements on the application's table. The words in braces are names that the
// plan has checked, quoted; by is the column of the order, after and notBefore the comparisons in its
// direction.
type statements struct {
	boundary, wrong, all, flip, flipListed string
}

const (
	// The first row that is over: the limit is its offset. It reads as many entries of the index (owner, by,
	// id) as the limit says, and no row. Plain read.
	sqlBoundary = `SELECT {id} FROM {table} WHERE {owner} ORDER BY {by} {direction}, {id} {direction} LIMIT 1 OFFSET ?`

	// The wrong rows on both sides of the boundary row b. That one row is read first and is a constant then,
	// so each half is a range of the index (owner, flag, by, id) that holds only wrong rows. The value of by
	// never travels to the client, where a float, a time or a collation might change it. Plain read.
	sqlWrong = `SELECT t.{id}, 1 FROM {table} AS b JOIN {table} AS t
 WHERE b.{id} = ? AND {ofOwner} AND t.{flag} = 0 AND (t.{by} {after} b.{by} OR t.{by} = b.{by} AND t.{id} {notBefore} b.{id})
 UNION ALL
 SELECT t.{id}, 0 FROM {table} AS b JOIN {table} AS t
 WHERE b.{id} = ? AND {ofOwner} AND t.{flag} = 1 AND (t.{by} {before} b.{by} OR t.{by} = b.{by} AND t.{id} {before} b.{id})
 LIMIT ?`

	// The same where the id is the order: there is nothing to look up.
	sqlWrongByID = `SELECT {id}, 1 FROM {table} WHERE {id} {notBefore} ? AND {owner} AND {flag} = 0
 UNION ALL
 SELECT {id}, 0 FROM {table} WHERE {id} {before} ? AND {owner} AND {flag} = 1
 LIMIT ?`

	// Without a boundary all rows are wrong that have the one flag: a range of the same index. Plain read.
	sqlAll = `SELECT {id}, 1 - {flag} FROM {table} WHERE {owner} AND {flag} = ? LIMIT ?`

	// One look-up by primary key for each id, so that exactly these rows are locked at any isolation level
	// (see sqlDeleteMarks). The old flag is in the condition: a row that counts was changed. The version and
	// updated_at stay.
	sqlFlip = `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id {type} PATH '$')) AS ids STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.{id} = ids.id SET t.{flag} = ?
 WHERE t.{flag} = ? AND {ofOwner}`

	// The same for ids that are no integers: text in JSON_TABLE has a collation of its own, so the ids are
	// parameters, and FORCE INDEX keeps many of them from becoming a scan.
	sqlFlipListed = `UPDATE {table} AS t FORCE INDEX (PRIMARY) SET t.{flag} = ? WHERE t.{id} IN ({ids}) AND t.{flag} = ? AND {ofOwner}`
)

func statementsFor(r schema.Resource) statements {
	direction, before, after := "ASC", "<", ">"
	if r.Quota.Descending {
		direction, before, after = "DESC", ">", "<"
	}
	owned := func(alias string) string {
		var conditions []string
		for _, column := range r.Owners() {
			conditions = append(conditions, alias+ident.Quote(column)+" = ?")
		}
		return strings.Join(conditions, " AND ")
	}
	integer := "BIGINT"
	if strings.Contains(strings.ToUpper(r.IDType), "UNSIGNED") {
		integer = "BIGINT UNSIGNED"
	}
	fill := strings.NewReplacer("{table}", ident.Quote(r.Active), "{id}", ident.Quote(r.ID), "{owner}", owned(""),
		"{flag}", ident.Quote(r.Quota.Flag), "{by}", ident.Quote(r.Quota.By),
		"{ofOwner}", owned("t."), "{type}", integer, "{direction}", direction, "{before}", before, "{after}", after, "{notBefore}", after+"=")
	s := statements{boundary: sqlBoundary, wrong: sqlWrong, all: sqlAll, flip: sqlFlip, flipListed: sqlFlipListed}
	if r.Quota.By == r.ID {
		s.wrong = sqlWrongByID
	}
	if strings.HasPrefix(strings.ToUpper(r.ColumnType(r.Quota.By)), "TIMESTAMP") { // else two of them are one in an hour of the year
		s.wrong = ident.InUTC(s.wrong)
	}
	for _, text := range []*string{&s.boundary, &s.wrong, &s.all, &s.flip, &s.flipListed} {
		*text = fill.Replace(*text)
	}
	return s
}

// wrongRows are the rows of an owner whose flag is not what it should be, at most maxRows of them, by the
// flag that they should have.
type wrongRows struct{ within, over []any }

func (w wrongRows) count() int { return len(w.within) + len(w.over) }

// survey asks for the limit and finds the rows with a wrong flag, by plain reads: the limit's statements, one
// for the boundary where there is one, one for the rows.
func (r *Rule) survey(ctx context.Context, tx *onerow.Tx, owner recount.Owner) (wrongRows, error) {
	limit, err := r.limit(ctx, tx, owner.Value())
	switch {
	case errors.Is(err, ErrNoOwner):
		return wrongRows{}, nil
	case err != nil:
		return wrongRows{}, fmt.Errorf("the limit: %w", err)
	case limit < 0:
		return r.find(ctx, tx, r.sql.all, owner.Values, 1, maxRows)
	case limit == 0:
		return r.find(ctx, tx, r.sql.all, owner.Values, 0, maxRows)
	}
	var boundary any
	err = onerow.QueryRow(ctx, tx, r.sql.boundary, args(owner.Values, limit), r.scan(&boundary))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r.find(ctx, tx, r.sql.all, owner.Values, 1, maxRows)
	case err != nil:
		return wrongRows{}, fmt.Errorf("find the first row over %d: %w", limit, err)
	}
	return r.find(ctx, tx, r.sql.wrong, boundary, owner.Values, boundary, owner.Values, maxRows)
}

// args are the arguments of a statement; an owner's values are a list among them.
func args(of ...any) (all []any) {
	for _, arg := range of {
		if values, several := arg.([]any); several {
			all = append(all, values...)
			continue
		}
		all = append(all, arg)
	}
	return all
}

// scan is a target of Scan for an id.
func (r *Rule) scan(id *any) any {
	return r.id.Scan(func(value any) error {
		*id = value
		return nil
	})
}

func (r *Rule) find(ctx context.Context, tx *onerow.Tx, query string, of ...any) (wrongRows, error) {
	var w wrongRows
	err := onerow.Query(ctx, tx, query, args(of...), func(rows *sql.Rows) error {
		var id any
		var over bool
		if err := rows.Scan(r.scan(&id), &over); err != nil {
			return err
		}
		if over {
			w.over = append(w.over, id)
		} else {
			w.within = append(w.within, id)
		}
		return nil
	})
	return w, errtext.Wrap(err, "find wrong flags")
}

// flips set the flags of the wrong rows, in statements of at most chunk rows.
func (r *Rule) flips(owner recount.Owner, w wrongRows) (stmts []onerow.Stmt, err error) {
	for _, half := range []struct {
		flag int
		ids  []any
	}{{0, w.within}, {1, w.over}} {
		slices.SortFunc(half.ids, keytype.Compare)
		some, err := r.flip(half.ids, half.flag, owner)
		if err != nil {
			return nil, fmt.Errorf("write flags: %w", err)
		}
		stmts = append(stmts, some...)
	}
	return stmts, nil
}

// flip sets the flag of some rows of the owner's.
func (r *Rule) flip(ids []any, flag int, owner recount.Owner) (stmts []onerow.Stmt, err error) {
	if r.id.Class == keytype.Integer {
		return inChunks(r.sql.flip, ids, args(flag, 1-flag, owner.Values)...)
	}
	for part := range slices.Chunk(ids, chunk) {
		query := strings.Replace(r.sql.flipListed, "{ids}", "?"+strings.Repeat(", ?", len(part)-1), 1)
		stmts = append(stmts, onerow.Stmt{Query: query, Args: args(flag, part, 1-flag, owner.Values)})
	}
	return stmts, nil
}
