package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// orphanPageOf is what a page has brought.
type orphanPageOf struct {
	orphans []Orphan
	entries int64      // index entries that were read
	last    indexPlace // where it ended
}

// sqlPage: the innermost part reads the index alone, from the place on and no further
// than the page; the values are then grouped, and each is looked up in the parent's tables
// by the index on what is referred to. Nothing is locked.
func (s *orphanScan) sqlPage(after indexPlace, page int) string {
	var where []string
	if s.lead != "" {
		where = append(where, s.lead)
	}
	where = append(where, "t."+schema.Quote(s.walk[0])+" IS NOT NULL")
	if after != nil {
		where = append(where, behind("t", s.walk, after))
	}
	quoted := make([]string, len(s.walk))
	order := make([]string, len(s.walk))
	for i, column := range s.walk {
		quoted[i], order[i] = schema.Quote(column), s.order[i].Select("g")
	}
	columns := strings.Join(quoted, ", ")
	missing, match := "1", "1"
	if s.missing != "" {
		missing = s.missing
	}
	if s.match != "" {
		match = "COALESCE(" + s.match + ", 0)"
	}
	return fmt.Sprintf(`SELECT %s, %s, g.entries, %s AND %s FROM (
  SELECT %s, COUNT(*) AS entries FROM (
    SELECT %s FROM %s AS t FORCE INDEX (%s) WHERE %s ORDER BY %s LIMIT %d
  ) AS d GROUP BY %s
) AS g ORDER BY %s`, s.value.Select("g"), strings.Join(order, ", "), match, missing,
		columns, columns, schema.Quote(s.table), schema.Quote(s.index), strings.Join(where, " AND "), columns, page, columns, columns)
}

// page reads a page.
func (s *orphanScan) page(ctx context.Context, db onerow.DB, after indexPlace, size int) (p orphanPageOf, err error) {
	var keys []rowkey.Key
	lastMissing := false
	err = onerow.Query(ctx, db, s.sqlPage(after, size), nil, func(rows *sql.Rows) error {
		values := make([]sql.NullString, s.value.Width()+len(s.walk))
		var entries int64
		var missing bool
		targets := []any{}
		for i := range values {
			targets = append(targets, &values[i])
		}
		if err := rows.Scan(append(targets, &entries, &missing)...); err != nil {
			return err
		}
		p.entries += entries
		p.last = make(indexPlace, len(s.walk))
		for i, c := range s.order {
			p.last[i] = "NULL"
			if k, ok := c.Key(values[s.value.Width()+i:][:1]); ok {
				p.last[i] = string(k)
			}
		}
		value, ok := s.value.Key(values[:s.value.Width()])
		lastMissing = ok && missing
		if !lastMissing {
			return nil
		}
		o, key := s.orphan(value)
		o.Rows = entries
		p.orphans, keys = append(p.orphans, o), append(keys, key)
		return nil
	})
	if err != nil || len(p.orphans) == 0 {
		return p, err
	}
	if lastMissing && p.entries == int64(size) { // the page may have ended within the last value
		last := &p.orphans[len(p.orphans)-1]
		last.AtLeast = true
	}
	if s.missing == "" {
		if err := s.dropPresent(ctx, db, &p, keys); err != nil {
			return p, err
		}
	}
	return p, dropOpen(ctx, db, s.parent.Name, &p.orphans)
}

// orphan is the report for a value of the edge, with the key of the parent.
func (s *orphanScan) orphan(value rowkey.Key) (Orphan, rowkey.Key) {
	o := Orphan{Resource: s.parent.Name, Table: s.table, Columns: s.edge.Columns, Values: string(value)}
	if s.perm == nil {
		o.ReportOnly = fmt.Sprintf("its rows refer to %s of %s, which is not the key", strings.Join(s.edge.References, ", "), s.parent.Name)
		return o, ""
	}
	// In its encoded form a key is the encoded forms of its parts.
	encoded, err := s.value.Encode(value)
	if err == nil {
		parts := strings.Split(encoded, ",")
		ordered := make([]string, len(parts))
		for i, from := range s.perm {
			ordered[i] = parts[from]
		}
		encoded = strings.Join(ordered, ",")
	}
	var key rowkey.Key
	if err == nil {
		key, err = s.parentKey(encoded)
	}
	if err == nil {
		o.ID, err = s.key.Encode(key)
	}
	if err != nil {
		o.ReportOnly = fmt.Sprintf("what its rows hold is no key of %s", s.parent.Name)
		return o, ""
	}
	if slices.ContainsFunc(s.value.Parts(value), noReference.MatchString) {
		o.ReportOnly = "many schemas write this for no reference at all; make the column NULL there, or enqueue the row by hand if it is one"
	}
	return o, key
}

// noReference are the literals of values that schemas without foreign keys write where no
// row is referred to: 0, -1, empty text, zeros in bytes or text, the zero date, the nil UUID.
var noReference = regexp.MustCompile(`^(-?0+(\.0+)?|-1|x'(00)*'|_utf8mb4 x'(2d|30)*'|'[0: .-]*')$`)

// parentKey reads the parent's key. Where columns of text refer to keys of another type,
// the text must be the key's usual form.
func (s *orphanScan) parentKey(encoded string) (rowkey.Key, error) {
	if s.missing != "" {
		return s.key.Decode(encoded)
	}
	parts, err := onerow.DecodeKey(encoded)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
	}
	key, err := s.key.Parse(strings.Join(texts, ","))
	if err != nil {
		return "", err
	}
	again, err := s.key.AsText().Encode(s.key.KeyAs(s.key.AsText(), key))
	if err == nil && again != encoded {
		err = fmt.Errorf("%w: %q", rowkey.ErrInvalidKey, encoded)
	}
	return key, err
}

// dropPresent takes those out whose parent is there.
func (s *orphanScan) dropPresent(ctx context.Context, db onerow.DB, p *orphanPageOf, keys []rowkey.Key) error {
	there, err := present(ctx, db, s.parent.Tables, s.key, slices.DeleteFunc(slices.Clone(keys), func(k rowkey.Key) bool { return k == "" }))
	if err != nil {
		return err
	}
	var left []Orphan
	for i, o := range p.orphans {
		if !there[keys[i]] {
			left = append(left, o)
		}
	}
	p.orphans = left
	return nil
}

// present asks all tables, in one statement per 500 keys, which rows are there. Each is
// known by the key that was asked for, though the row may spell it otherwise.
func present(ctx context.Context, db onerow.DB, tables []string, c rowkey.Codec, keys []rowkey.Key) (map[rowkey.Key]bool, error) {
	there := map[rowkey.Key]bool{}
	for chunk := range slices.Chunk(keys, enqueueManyAtOnce) {
		found, strange := map[rowkey.Key]bool{}, false
		err := onerow.Query(ctx, db, presentSQL(tables, c, chunk), nil, func(rows *sql.Rows) error {
			values, targets := make([]sql.NullString, c.Width()), make([]any, c.Width())
			for i := range values {
				targets[i] = &values[i]
			}
			err := rows.Scan(targets...)
			key, _ := c.Key(values)
			found[key] = true
			strange = strange || !slices.Contains(chunk, key)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case !strange:
			for key := range found {
				there[key] = true
			}
		case len(chunk) == 1:
			there[chunk[0]] = true
		default: // a collation takes two spellings for one: ask for each key by itself
			for _, key := range chunk {
				one, err := present(ctx, db, tables, c, []rowkey.Key{key})
				if err != nil {
					return nil, err
				}
				there[key] = one[key]
			}
		}
	}
	return there, nil
}

func presentSQL(tables []string, c rowkey.Codec, keys []rowkey.Key) string {
	parts := make([]string, len(tables))
	for i, table := range tables {
		parts[i] = fmt.Sprintf("SELECT %s FROM %s AS t WHERE %s", c.Select("t"), schema.Quote(table), c.In("t", keys))
	}
	return strings.Join(parts, " UNION ALL ")
}
