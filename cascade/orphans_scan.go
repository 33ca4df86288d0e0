package cascade

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// orphanScan reads one edge of one table along its index.
type orphanScan struct {
	node, parent schema.Node
	edge         schema.Edge
	table, index string
	lead         string   // the condition on the index's first columns, where they are the edge's condition
	walk         []string // the index's next columns, up to the last one that matters
	order        []rowkey.Codec
	value        rowkey.Codec // the edge's columns
	match        string       // the rest of the edge's condition
	missing      string       // the parent is in none of its tables; empty: it is asked in a second statement
	key          rowkey.Codec // of the parent
	perm         []int        // the place of each of the key's columns among the edge's; nil: not the key
}

// sqlIndexColumns and sqlGuards are plain reads of the dictionary.
const (
	sqlIndexColumns = `SELECT table_name, index_name, COALESCE(column_name, '') FROM information_schema.statistics
WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`
	sqlGuards = `SELECT table_name, constraint_name, column_name, referenced_table_name FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE() ORDER BY table_name, constraint_name, ordinal_position`
)

// orphanScans are all scans of the plan, in its order.
func orphanScans(ctx context.Context, db onerow.DB, plan schema.Plan, only string) ([]orphanScan, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	nodes := plan.Nodes()
	if only != "" && !slices.ContainsFunc(nodes, func(n schema.Node) bool { return n.Name == only || slices.Contains(n.Tables, only) }) {
		return nil, fmt.Errorf("%w: %q; the plan has %q", schema.ErrUnknownResource, only, plan.Names())
	}
	cat, err := schema.Inspect(ctx, db)
	if err != nil {
		return nil, err
	}
	indexes, guards := map[string][]string{}, map[string][]string{}
	err = onerow.Query(ctx, db, sqlIndexColumns, nil, func(rows *sql.Rows) error {
		var table, index, column string
		err := rows.Scan(&table, &index, &column)
		key := strings.ToLower(table + "\x00" + index)
		indexes[key] = append(indexes[key], strings.ToLower(column))
		return err
	})
	if err != nil {
		return nil, err
	}
	err = onerow.Query(ctx, db, sqlGuards, nil, func(rows *sql.Rows) error {
		var table, name, column, to string
		err := rows.Scan(&table, &name, &column, &to)
		key := strings.ToLower(table + "\x00" + to + "\x00" + name)
		guards[key] = append(guards[key], strings.ToLower(column))
		return err
	})
	if err != nil {
		return nil, err
	}
	var scans []orphanScan
	for _, n := range nodes {
		for _, e := range n.Parents {
			for _, table := range n.Tables {
				parent := nodes[slices.IndexFunc(nodes, func(p schema.Node) bool { return p.Name == e.Table })]
				if e.OnDelete != schema.OnDeleteDelete || only != "" && n.Name != only && table != only || guarded(guards, table, parent, e) {
					continue
				}
				s := orphanScan{node: n, parent: parent, edge: e, table: table}
				if err := s.prepare(cat, indexes); err != nil {
					return nil, err
				}
				scans = append(scans, s)
			}
		}
	}
	return scans, nil
}

// guarded says whether a foreign key makes sure that the parent is there.
func guarded(guards map[string][]string, table string, parent schema.Node, e schema.Edge) bool {
	prefix := strings.ToLower(table + "\x00" + parent.Tables[0] + "\x00")
	for key, columns := range guards {
		if len(parent.Tables) == 1 && len(e.When) == 0 && strings.HasPrefix(key, prefix) && sameNames(columns, e.Columns) {
			return true
		}
	}
	return false
}

func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(name string) bool { return !slices.Contains(a, strings.ToLower(name)) })
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// prepare finds the index and what follows from the order of its columns.
func (s *orphanScan) prepare(cat *schema.Catalog, indexes map[string][]string) (err error) {
	var ok bool
	if s.index, ok = cat.EdgeIndex(s.table, s.edge); !ok {
		return fmt.Errorf("%w: %q needs one that begins with (%s), or every row of it would be read; create it", ErrNoIndex, s.table, strings.Join(s.edge.Columns, ", "))
	}
	if s.value, err = rowkey.New(cat, s.table, s.edge.Columns); err != nil {
		return err
	}
	columns := indexes[strings.ToLower(s.table+"\x00"+s.index)]
	when := map[string]string{}
	for column, v := range s.edge.When {
		when[strings.ToLower(column)] = v
	}
	lead := map[string]string{}
	for len(columns) > 0 {
		v, isCondition := when[columns[0]]
		if !isCondition {
			break
		}
		lead[columns[0]] = v
		delete(when, columns[0])
		columns = columns[1:]
	}
	if s.lead, err = rowkey.Where(cat, s.table, "t", lead); err != nil {
		return err
	}
	if s.match, err = rowkey.Where(cat, s.table, "g", when); err != nil {
		return err
	}
	needed := len(s.edge.Columns) + len(when)
	for _, column := range columns {
		_, isCondition := when[column]
		if needed == 0 || !isCondition && !slices.ContainsFunc(s.edge.Columns, func(c string) bool { return strings.EqualFold(c, column) }) {
			break
		}
		needed--
		s.walk = append(s.walk, column)
	}
	if needed > 0 { // a value's rows of another kind could fill page after page
		return fmt.Errorf("%w: %q needs one on (%s) to look for orphans; create it", ErrNoIndex, s.table,
			strings.Join(append(sortedKeys(s.edge.When), s.edge.Columns...), ", "))
	}
	for _, column := range s.walk {
		c, err := rowkey.New(cat, s.table, []string{column})
		if err != nil {
			return err
		}
		s.order = append(s.order, c.Ordered())
	}
	return s.prepareParent(cat)
}

// prepareParent says how the parent is looked for, and how its key is made of the edge.
func (s *orphanScan) prepareParent(cat *schema.Catalog) error {
	var parts []string
	for _, table := range s.parent.Tables {
		refs, err := rowkey.New(cat, table, s.edge.References)
		if err != nil {
			return err
		}
		if !refs.Fits(s.value) {
			parts = nil
			break
		}
		parts = append(parts, fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s)", schema.Quote(table), refs.Equal("p", s.value, "g")))
	}
	s.missing = strings.Join(parts, " AND ")
	var err error
	if s.key, err = rowkey.New(cat, s.parent.Tables[0], s.parent.Key); err != nil {
		return err
	}
	if len(s.parent.Key) == len(s.edge.References) {
		for _, column := range s.parent.Key {
			if i := slices.IndexFunc(s.edge.References, func(r string) bool { return strings.EqualFold(r, column) }); i >= 0 {
				s.perm = append(s.perm, i)
			}
		}
		if len(s.perm) < len(s.parent.Key) {
			s.perm = nil
		}
	}
	if s.missing == "" && s.perm == nil {
		return fmt.Errorf("%w: the columns (%s) of %q and (%s) of %q have types that do not compare", rowkey.ErrType,
			strings.Join(s.edge.Columns, ", "), s.table, strings.Join(s.edge.References, ", "), s.parent.Name)
	}
	return nil
}

// place is a position in an index: the literals of its columns, NULL among them.
type indexPlace []string

// literals are what a place may be made of: nothing else gets into a statement.
var literals = regexp.MustCompile(`^(NULL|-?\d+(\.\d+)?|(_utf8mb4 )?x'[0-9a-f]*'|'[0-9A-Za-z:. -]*')$`)

type cursorText struct {
	Table string     `json:"t"`
	Edge  string     `json:"e"`
	After indexPlace `json:"a,omitempty"`
}

// position is a place of this scan as a text.
func (s *orphanScan) position(after indexPlace) string {
	raw, err := json.Marshal(cursorText{s.table, s.name(), after})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// startAt drops the scans before the position.
func startAt(scans *[]orphanScan, position string) (indexPlace, error) {
	if position == "" {
		return nil, nil
	}
	var c cursorText
	raw, err := base64.RawURLEncoding.DecodeString(position)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidCursor, err)
	}
	i := slices.IndexFunc(*scans, func(s orphanScan) bool { return s.table == c.Table && s.name() == c.Edge })
	if i < 0 || c.After != nil && len(c.After) != len((*scans)[i].walk) ||
		slices.ContainsFunc(c.After, func(l string) bool { return !literals.MatchString(l) }) {
		return nil, ErrInvalidCursor
	}
	*scans = (*scans)[i:]
	return c.After, nil
}

// behind is the condition that holds for entries behind a place, which the range
// optimizers understand, unlike a comparison of rows.
func behind(alias string, columns []string, place indexPlace) string {
	var ways []string
	same := ""
	for i, column := range columns {
		name := schema.Quote(alias) + "." + schema.Quote(column)
		if place[i] == "NULL" { // sorts first
			ways = append(ways, same+name+" IS NOT NULL")
			same += name + " IS NULL AND "
			continue
		}
		ways = append(ways, same+name+" > "+place[i])
		same += name + " = " + place[i] + " AND "
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}
