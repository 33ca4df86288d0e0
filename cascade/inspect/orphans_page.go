package inspect

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

type orphanPageOf struct {
	orphans []Orphan
	entries int64        // index entries that were read
	last    rowkey.Place // where it ended
}

// sqlOrphanPage: the innermost part reads the index alone, from the place on and no further than the page;
// the values are then grouped, and each is looked up in the parent's tables by the index on what is referred
// to. Nothing is locked.
const sqlOrphanPage = `SELECT %s, %s, g.entries, %s FROM (
  SELECT %[4]s, COUNT(*) AS entries FROM (
    SELECT %[4]s FROM %s%s WHERE %s ORDER BY %[4]s LIMIT %[8]d
  ) AS d GROUP BY %[4]s
) AS g ORDER BY %[4]s`

func (s *orphanScan) pageSQL(after rowkey.Place, size int) string {
	walk := s.Scan.Columns
	where := s.Scan.Lead + ident.Quote(walk.Names()[0]) + " IS NOT NULL"
	if after != nil {
		where += " AND " + walk.After("", after)
	}
	return fmt.Sprintf(sqlOrphanPage, s.Columns.Select("g"), walk.Select("g"), s.missing, ident.Quotes(walk.Names()...),
		s.From, s.Index, where, size)
}

func (s *orphanScan) page(ctx context.Context, db onerow.DB, after rowkey.Place, size int) (p orphanPageOf, err error) {
	lastMissing := false
	err = graph.ReadColumns(ctx, db, s.Columns, s.pageSQL(after, size), nil, func(value rowkey.Key, rest []sql.NullString) error {
		counted := rest[s.Scan.Columns.Width():]
		entries, err := strconv.ParseInt(counted[0].String, 10, 64)
		p.entries += entries
		p.last = s.Scan.Columns.Place(rest)
		if lastMissing = value != "" && counted[1].String == "1"; lastMissing {
			p.orphans = append(p.orphans, s.orphan(value, entries))
		}
		return err
	})
	if err != nil || len(p.orphans) == 0 {
		return p, err
	}
	if lastMissing && p.entries == int64(size) { // the page may have ended within the last value
		p.orphans[len(p.orphans)-1].AtLeast = true
	}
	p.orphans, err = s.dropSettled(ctx, db, p.orphans)
	return p, err
}

// orphan is the report for a value of the edge.
func (s *orphanScan) orphan(value rowkey.Key, rows int64) Orphan {
	e, parent := s.Edge.Declared, s.Edge.Parent
	o := Orphan{Resource: parent.Name, Table: s.Name, Columns: e.Columns, Values: string(value), Rows: rows}
	if s.keyOrder == nil {
		o.ReportOnly = fmt.Sprintf("its rows refer to %s of %s, which is not the key", strings.Join(e.References, ", "), parent.Name)
		return o
	}
	key, err := s.parentKey(value)
	if err == nil {
		o.ID, err = parent.Tables[0].Key.Encode(key)
	}
	switch {
	case err != nil:
		o.ReportOnly = fmt.Sprintf("what its rows hold is no key of %s", parent.Name)
	case slices.ContainsFunc(s.Columns.Parts(value), noReference.MatchString):
		o.ReportOnly = "many schemas write this for no reference at all; make the column NULL there, or enqueue the row by hand if it is one"
	}
	return o
}

// noReference are the literals of values that schemas without foreign keys write where no
// row is referred to: 0, -1, empty text, zeros in bytes or text, the zero date, the nil UUID.
var noReference = regexp.MustCompile(`^(-?0+(\.0+)?|-1|x'(00)*'|_utf8mb4 x'(2d|30)*'|'[0: .-]*')$`)

// parentKey is the parent's key that a value of the edge is. Where columns of text refer to keys of another
// type, the text must be the key's usual form.
func (s *orphanScan) parentKey(value rowkey.Key) (rowkey.Key, error) {
	encoded, err := s.Columns.Encode(value)
	if err != nil {
		return "", err
	}
	// In its encoded form a key is the encoded forms of its parts.
	parts, ordered := strings.Split(encoded, ","), make([]string, len(s.keyOrder))
	for i, from := range s.keyOrder {
		ordered[i] = parts[from]
	}
	encoded = strings.Join(ordered, ",")
	codec := s.Edge.Parent.Tables[0].Key
	if !s.AsText {
		return codec.Decode(encoded)
	}
	decoded, err := onerow.DecodeKey(encoded)
	if err != nil {
		return "", err
	}
	for i, part := range decoded {
		ordered[i] = fmt.Sprint(part)
	}
	key, err := codec.Parse(strings.Join(ordered, ","))
	if err != nil {
		return "", err
	}
	again, err := codec.AsText().Encode(codec.KeyAs(codec.AsText(), key))
	if err == nil && again != encoded {
		err = fmt.Errorf("%w: %q", rowkey.ErrInvalidKey, encoded)
	}
	return key, err
}
