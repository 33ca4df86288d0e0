package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// attempt is the write of a row that a unique index has refused.
type attempt struct {
	id      any          // nil where the row is to be created
	from    schema.State // of the table with the row's other values; empty for a new row
	owner   []any
	name    names.Parsed
	columns []string // what was written, and its values
	args    []any
}

// refused says what a failed write means. After a duplicate the table is asked, by
// current reads, who has the name, and then who has the values of another unique index:
// the text of the error differs between servers and contains the user's own value.
func (r *untyped) refused(ctx context.Context, tx *onerow.Tx, w attempt, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	holder, herr := r.nameHolder(ctx, tx, w.owner, w.name)
	switch {
	case herr != nil:
		return herr
	case holder == nil || w.id != nil && keytype.Compare(holder, w.id) == 0:
		return r.conflict(ctx, tx, w, true, err)
	}
	return &NameTakenError{Resource: r.res.Name, Name: w.name.Display, ID: r.typed(holder), Err: err}
}

// sqlHolder reads by the unique index (owner, name key).
const sqlHolder = `SELECT {id} FROM {active} WHERE {ownerIs} AND {nameKey} = ? LOCK IN SHARE MODE`

// nameHolder returns the id of the active row that has the name, or nil.
func (r *untyped) nameHolder(ctx context.Context, db onerow.DB, owner []any, name names.Parsed) (id any, err error) {
	if !r.res.Named() {
		return nil, nil
	}
	_, err = found(onerow.QueryRow(ctx, db, r.text(sqlHolder), append(slices.Clone(owner), []byte(name.Key)), r.fields.id.into(&id)))
	return id, err
}

// sqlUnique reads the unique indexes of the active table, column by column, from the catalog; no lock. A
// prefix, an expression and a hash come as ”: no value that is written says what they hold.
const sqlUnique = `SELECT index_name, IF(sub_part IS NULL AND index_type = 'BTREE', COALESCE(column_name, ''), '')
  FROM information_schema.statistics
  WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index`

type uniqueIndex struct {
	name    string
	columns []string
}

func (r *untyped) uniqueIndexes(ctx context.Context, db onerow.DB) (list []uniqueIndex, err error) {
	err = onerow.Query(ctx, db, sqlUnique, []any{r.res.Active}, func(rows *sql.Rows) error {
		var index, column string
		if err := rows.Scan(&index, &column); err != nil {
			return err
		}
		if n := len(list); n == 0 || list[n-1].name != index {
			list = append(list, uniqueIndex{name: index})
		}
		x := &list[len(list)-1]
		x.columns = append(x.columns, column)
		return nil
	})
	return list, err
}

// conflict finds the unique index beside the name's that refused the row: a [ConflictError] with the row that
// has its values, or else a duplicateError. Two statements: the catalog, and one look-up in each index whose
// values are known. In a transaction these are current reads.
func (r *untyped) conflict(ctx context.Context, db onerow.DB, w attempt, current bool, err error) error {
	indexes, ierr := r.uniqueIndexes(ctx, db)
	if ierr != nil {
		return ierr
	}
	var parts []string
	var args []any
	for n, x := range indexes {
		from, values := r.holderQuery(x, w)
		if from == "" {
			continue
		}
		part := fmt.Sprintf("SELECT %d, h.%s %s", n, ident.Quote(r.res.ID), from)
		if current {
			part += " LOCK IN SHARE MODE"
		}
		parts, args = append(parts, "("+part+")"), append(args, values...)
	}
	if len(parts) == 0 {
		return &duplicateError{err}
	}
	var n int
	var holder any
	there, herr := found(onerow.QueryRow(ctx, db, r.inUTC(strings.Join(parts, " UNION ALL ")), args, &n, r.fields.id.into(&holder)))
	if herr != nil {
		return herr
	}
	if !there {
		return &duplicateError{err}
	}
	return &ConflictError{Resource: r.res.Name, ID: r.typed(w.id), Index: indexes[n].name, Columns: indexes[n].columns, HolderID: r.typed(holder), Err: err}
}

// holderQuery finds, over the unique index itself, which other row has the values that w wrote, or that the
// row has already; it is empty where they are not known, where they cannot be taken (NULL, an index with the
// primary key), and for the name's index, which was asked before.
func (r *untyped) holderQuery(x uniqueIndex, w attempt) (from string, args []any) {
	if slices.Equal(x.columns, append(r.res.Owners(), r.res.Label.Key)) {
		return "", nil
	}
	from = `FROM {active} h`
	switch w.from {
	case schema.Active:
		from, args = from+` JOIN {active} me ON me.{id} = ?`, []any{w.id}
	case schema.Archived:
		from, args = from+` JOIN {archive} me ON me.{id} = ?`, []any{w.id}
	}
	unchanged := slices.DeleteFunc(r.res.Shared(), func(c string) bool { // by any verb, beside what it writes
		return c == r.res.Quota.Flag || c == r.res.Guard || c == ident.ColVersion || c == ident.ColUpdatedAt
	})
	var conditions []string
	for _, column := range x.columns {
		name := ident.Quote(column)
		same := func(c string) bool { return strings.EqualFold(c, column) }
		i := slices.IndexFunc(w.columns, same)
		switch {
		case same(r.res.ID), i >= 0 && isNull(w.args[i]):
			return "", nil
		case i >= 0:
			conditions, args = append(conditions, "h."+name+" = ?"), append(args, r.comparable(column, w.args[i]))
		case w.from != "" && slices.ContainsFunc(unchanged, same):
			conditions = append(conditions, "h."+name+" = me."+name)
		default:
			return "", nil
		}
	}
	if w.from == schema.Active {
		conditions = append(conditions, r.text(`h.{id} <> me.{id}`))
	}
	return r.text(from) + " WHERE " + strings.Join(conditions, " AND "), args
}

// comparable is an argument in the form in which a column compares it over its index:
// text as text, for bytes have another collation, and a number makes the column one.
func (r *untyped) comparable(column string, arg any) any {
	word := typeWord(columnType(r.res, column))
	if strings.HasSuffix(word, "char") || strings.HasSuffix(word, "text") || slices.Contains([]string{"enum", "set", "national"}, word) {
		return string(plainText(arg))
	}
	return arg
}

// duplicateError: a unique key refused the row, and nobody is seen to hold its values: the holder has just
// gone, and the next try will do, or it is an index that cannot be asked.
type duplicateError struct{ err error }

func (e *duplicateError) Error() string        { return e.err.Error() }
func (e *duplicateError) Unwrap() error        { return e.err }
func (e *duplicateError) Is(target error) bool { return errors.Is(errMoved, target) }

// maxDuplicates is how often a write is tried that a unique key refuses for nobody's sake.
const maxDuplicates = 3
