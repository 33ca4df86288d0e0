package adopt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// filler knows the tables of a resource, and the statements that fill in what they lack.
type filler struct {
	res   schema.Resource
	id    keytype.Type
	owner []keytype.Type
	sides []*side
}

// side is one of the resource's tables and its statements.
type side struct {
	name         string
	keyMayBeNull bool
	times        []moment // columns that are filled with the time
	keepTimes    string   // ", `t` = `t`" for each column that would move by itself
	page         string
}

type moment struct{ column, now string }

// newFiller looks at the tables.
func newFiller(ctx context.Context, db onerow.DB, plan schema.Plan, resource string) (*filler, error) {
	a, err := Prepare(ctx, db, plan, resource)
	if err != nil {
		return nil, err
	}
	if len(a.Against) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotReady, a.Against[0])
	}
	for _, s := range a.Steps {
		if !s.Last {
			return nil, fmt.Errorf("%w: the file %s was not run", ErrNotReady, s.Name)
		}
	}
	f := &filler{res: a.Resource}
	if f.id, err = keytype.Parse(f.res.IDType); err != nil {
		return nil, fmt.Errorf("adopt: %s: %w", f.res.ID, err)
	}
	for _, name := range f.res.Owners() {
		t, err := keytype.Parse(f.res.ColumnType(name))
		if err != nil {
			return nil, fmt.Errorf("adopt: %s: %w", name, err)
		}
		f.owner = append(f.owner, t)
	}
	for _, table := range f.res.Tables() {
		f.sides = append(f.sides, f.side(a, table))
	}
	return f, nil
}

// side makes what is known of a table into its statements.
func (f *filler) side(a *Adoption, table string) *side {
	s, found := &side{name: table}, a.found.TableOrEmpty(table)
	filled := []string{f.res.Label.Key, ident.ColStemKey, ident.ColCopyNo}
	var lacks []string
	for _, name := range a.laterNotNull[table] {
		switch name {
		case ident.ColCreatedAt, ident.ColUpdatedAt, ident.ColArchivedAt:
			now := "UTC_TIMESTAMP(6)"
			if c := found.Column(name); c != nil && c.Data == "timestamp" {
				now = "CURRENT_TIMESTAMP(6)" // it is the session's, and stored as the moment that it is
			}
			s.times = append(s.times, moment{name, now})
		case f.res.Label.Key:
			s.keyMayBeNull = true
		default:
			if !slices.Contains(filled, name) {
				lacks = append(lacks, fmt.Sprintf("IF(%s IS NULL, %s, NULL)", ident.Quote(name), keytype.Literal(name)))
			}
		}
	}
	for _, c := range found.Columns {
		if c.Moves() {
			s.keepTimes += fmt.Sprintf(", %s = %[1]s", ident.Quote(c.Name))
		}
	}
	s.page = f.pageSQL(s, lacks)
	return s
}

// pageSQL reads a page by the primary key, without locks; the condition and the limit follow.
func (f *filler) pageSQL(s *side, lacks []string) string {
	name := "NULL, NULL, NULL, NULL"
	if f.res.Named() {
		name = fmt.Sprintf("CAST(%s AS BINARY), %s, stem_key, copy_no", ident.Quote(f.res.Label.Column), ident.Quote(f.res.Label.Key))
	}
	late := []string{"0"}
	for _, m := range s.times {
		late = append(late, ident.Quote(m.column)+" IS NULL")
	}
	lacking := "''"
	if len(lacks) > 0 {
		lacking = "CONCAT_WS(', ', " + strings.Join(lacks, ", ") + ")"
	}
	columns := []string{ident.Quote(f.res.ID), name, strings.Join(late, " OR "), lacking}
	for _, owner := range f.res.Owners() {
		columns = append(columns, ident.Quote(owner))
	}
	return fmt.Sprintf("SELECT %s FROM %s FORCE INDEX (PRIMARY)", strings.Join(columns, ", "), ident.Quote(s.name))
}
