package graph

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// indexes are the columns of each index, by table and index, as far as an index scan delivers them in order:
// up to the first expression, prefix or descending column. Names are in lower case.
type indexes struct {
	ordered map[[2]string][]string
	// cheap are columns of each table that are quickly read.
	cheap map[string][]string
	// all are all columns of each index.
	all map[[2]string][]string
}

// Both read the dictionary, plainly, of the tables that are named.
const (
	sqlIndexes = `SELECT table_name, index_name, COALESCE(column_name, ''), sub_part IS NULL AND COALESCE(collation, 'A') = 'A'
 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name IN (%s) ORDER BY table_name, index_name, seq_in_index`
	sqlCheapColumns = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name IN (%s)
 AND data_type IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'date', 'datetime', 'timestamp', 'char', 'varchar')
 AND COALESCE(character_maximum_length, 0) <= 300 ORDER BY table_name, COALESCE(character_maximum_length, 0), ordinal_position`
)

func readIndexes(ctx context.Context, db onerow.DB, tables []string) (indexes, error) {
	marks, args := ident.Params(len(tables)), make([]any, len(tables))
	for i, name := range tables {
		args[i] = name
	}
	x := indexes{ordered: map[[2]string][]string{}, cheap: map[string][]string{}, all: map[[2]string][]string{}}
	ended := map[[2]string]bool{}
	err := onerow.Query(ctx, db, fmt.Sprintf(sqlIndexes, marks), args, func(rows *sql.Rows) error {
		var table, index, column string
		var plain bool
		if err := rows.Scan(&table, &index, &column, &plain); err != nil {
			return err
		}
		name := [2]string{strings.ToLower(table), strings.ToLower(index)}
		x.all[name] = append(x.all[name], column)
		if ended[name] = ended[name] || !plain || column == ""; !ended[name] {
			x.ordered[name] = append(x.ordered[name], column)
		}
		return nil
	})
	if err != nil {
		return x, err
	}
	return x, onerow.Query(ctx, db, fmt.Sprintf(sqlCheapColumns, marks), args, func(rows *sql.Rows) error {
		var table, column string
		err := rows.Scan(&table, &column)
		x.cheap[strings.ToLower(table)] = append(x.cheap[strings.ToLower(table)], column)
		return err
	})
}

// walkBy chooses the index by which the rows over an edge are walked, and their order: that of the index's
// columns and then of the key's, as InnoDB appends them. A scan of the index then reads only the rows that it
// returns. Columns of the condition are constant and left out. Without a fitting index, or where its columns
// cannot be keys, the rows are sorted each time; [live.Verify] warns of that. MySQL does not see that an
// index that has some of the key's columns has the rest of them behind it, and sorts, unless one parent is
// asked for.
func (s *Source) walkBy(declared schema.Edge, cat *catalog.Catalog, all indexes) (err error) {
	var columns []string
	if found := cat.Indexes(s.Name, declared); len(found) > 0 {
		name := found[0]
		s.Index, s.Narrow = " FORCE INDEX ("+ident.Quote(name)+")", narrow(name)
		index := [2]string{strings.ToLower(s.Name), strings.ToLower(name)}
		columns = all.ordered[index]
		s.Outside = all.outside(s.Table, index)
		if s.Scan, err = newScan(declared, cat, s.Name, all.all[index]); err != nil {
			return err
		}
		s.Sorted = strings.EqualFold(name, "PRIMARY") || len(s.Node.Key) == 1 || !overlap(columns, s.Node.Key)
	}
	var order []string
	add := func(columns []string) bool {
		for _, column := range columns {
			if _, constant := condition(declared, column); contains(order, column) || constant && !contains(declared.Columns, column) {
				continue
			}
			if _, err := rowkey.New(cat, s.Name, []string{column}); err != nil {
				return false
			}
			order = append(order, column)
		}
		return true
	}
	if !add(columns) || !containsAll(order, declared.Columns) {
		order = nil
		add(declared.Columns)
	}
	add(s.Node.Key)
	c, err := rowkey.New(cat, s.Name, order)
	s.order = c.Ordered()
	return err
}

// Dive is what a statement that has a list of keys says behind its first word: MySQL looks into the index for
// each of them. Behind the limit of that, 200, both engines ask the statistics, and read and lock all of the
// table where these are of when it was empty; so lists over an edge have at most EdgeList keys.
const (
	Dive     = "/*+ SET_VAR(eq_range_index_dive_limit=0) */ "
	EdgeList = 150
)

// narrow names an index for statements that read nothing but what it has. MySQL does not look into an index
// that it is forced to use, and takes what it then does not know for the price of a list of keys: it reads,
// and locks, the whole index instead.
func narrow(index string) string { return " USE INDEX (" + ident.Quote(index) + ")" }

// Wide is the index for statements that read all columns: of a table of nothing but keys that may be no more
// than the index has.
func (s *Source) Wide() string {
	if s.Outside == "" {
		return s.Narrow
	}
	return s.Index
}

// outside is a column that is not in the index, quoted and behind a comma, or empty. MySQL estimates badly
// how many rows a long list finds in an index that it was told to use, and then reads the whole index, from
// its start, where that has all columns that are asked for. It does not where it would have to look each row
// up. A table that has no other column than those of keys and edges has none to offer, see Wide.
func (x indexes) outside(t *Table, index [2]string) string {
	for _, column := range x.cheap[index[0]] {
		if !contains(x.all[index], column) && !contains(t.Node.Key, column) {
			return ", " + ident.Quote(column)
		}
	}
	return ""
}

// contains says whether a column is in a list, in whatever case.
func contains(list []string, column string) bool {
	return slices.ContainsFunc(list, func(c string) bool { return strings.EqualFold(c, column) })
}

func containsAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(c string) bool { return !contains(list, c) })
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(c string) bool { return contains(b, c) })
}

// condition is the text that a column has in all rows over an edge.
func condition(e schema.Edge, column string) (text string, ok bool) {
	for name, text := range e.When {
		if strings.EqualFold(name, column) {
			return text, true
		}
	}
	if mark := e.OnDelete.Mark(); mark != "" && strings.EqualFold(mark, column) {
		return "", true // NULL
	}
	return "", false
}

// widened says whether an index that begins with the columns has a further one that may be NULL. Where it is,
// MySQL 9.7 takes a row by a foreign key on these columns whose row above is not there, if that index is the
// one that the key uses, which the catalog does not tell.
func (x indexes) widened(cat *catalog.Catalog, table string, columns []string) bool {
	for name, list := range x.all {
		if name[0] != strings.ToLower(table) || len(list) <= len(columns) || !containsAll(list[:len(columns)], columns) {
			continue
		}
		if slices.ContainsFunc(list[len(columns):], func(column string) bool {
			info, ok := cat.Column(table, column)
			return !ok || info.Nullable // an expression is no column
		}) {
			return true
		}
	}
	return false
}

// Place is where the index has a row, of which these values follow the others.
func (s *Source) Place(values []sql.NullString) rowkey.Place { return s.order.Place(values) }

// ReadSQL reads the next children of the parents, whose keys for the edge are given.
func (s *Source) ReadSQL(keys []rowkey.Key, after rowkey.Place, limit int) string {
	query := "SELECT " + Dive + s.Table.Columns(&s.Columns) + ", " + s.order.Select("") + s.Outside +
		" FROM " + s.From + s.Wide() + " WHERE " + s.When + s.Columns.In("", keys)
	if after != nil {
		query += " AND " + s.order.After("", after)
	}
	return query + " ORDER BY " + ident.Quotes(s.order.Names()...) + " LIMIT " + strconv.Itoa(limit)
}
