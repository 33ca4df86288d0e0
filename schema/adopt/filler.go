package adopt

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
	"github.com/onerow/onerow/schema"
)

var (
	// ErrNotReady means: the tables lack what the files before the backfill give them, or something stands
	// against the adoption. The text says what.
	ErrNotReady = errors.New("adopt: the tables are not ready for the backfill")
	// ErrInvalidPosition means: that is no position at which a page can begin.
	ErrInvalidPosition = errors.New("adopt: not a position")
	// ErrNameTaken means: another row of this owner has the key of the name.
	ErrNameTaken = errors.New("adopt: the name is taken")
	// ErrLacks means: the row lacks a value that the backfill cannot know.
	ErrLacks = errors.New("adopt: the row lacks a value")
)

// Filler writes what no DDL can: the keys of names, and times that nobody knows. It may be used by many
// goroutines at once.
type Filler struct {
	res   schema.Resource
	id    keytype.Type
	owner []keytype.Type
	sides []*side
}

// side is one of the resource's tables and its statements.
type side struct {
	name         string
	active       bool
	keyMayBeNull bool
	times        []moment // columns that are filled with the time
	keepTimes    string   // ", `t` = `t`" for each column that would move by itself
	page         string
}

type moment struct{ column, now string }

// New looks at the tables. Errors: [ErrNotReady], those of [Prepare].
func New(ctx context.Context, db onerow.DB, plan schema.Plan, resource string) (*Filler, error) {
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
	f := &Filler{res: a.Resource}
	if f.id, err = keytype.Parse(f.res.IDType); err != nil {
		return nil, fmt.Errorf("adopt: %s: %w", f.res.ID, err)
	}
	for _, name := range f.res.Owners() {
		t, err := keytype.Parse(f.res.KeyType(name))
		if err != nil {
			return nil, fmt.Errorf("adopt: %s: %w", name, err)
		}
		f.owner = append(f.owner, t)
	}
	for i, table := range f.res.Tables() {
		f.sides = append(f.sides, f.side(a, table, i == 0))
	}
	return f, nil
}

// side makes what is known of a table into its statements.
func (f *Filler) side(a *Adoption, table string, active bool) *side {
	s, found := &side{name: table, active: active}, a.found.TableOrEmpty(table)
	filled := []string{f.res.Label.Key, schema.ColStemKey, schema.ColCopyNo}
	var lacks []string
	for _, name := range a.laterNotNull[table] {
		switch name {
		case schema.ColCreatedAt, schema.ColUpdatedAt, schema.ColArchivedAt:
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
func (f *Filler) pageSQL(s *side, lacks []string) string {
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
	columns := strings.Join(append([]string{ident.Quote(f.res.ID), name, strings.Join(late, " OR "), lacking}, quoteAll(f.res.Owners())...), ", ")
	return fmt.Sprintf("SELECT %s FROM %s FORCE INDEX (PRIMARY)", columns, ident.Quote(s.name))
}

func quoteAll(names []string) (quoted []string) {
	for _, name := range names {
		quoted = append(quoted, ident.Quote(name))
	}
	return quoted
}

// row is one of a page.
type row struct {
	id               any
	owner            []any
	label, key, stem []byte
	copyNo           sql.NullInt64
	lacksTime        bool
	missing          string
	want             wanted
	wrong            error // why there is nothing that is wanted
}

// wanted is what belongs to the name.
type wanted struct {
	key, stem []byte
	copyNo    int
}

// Left is a row that the backfill has left as it is.
type Left struct {
	Table string
	ID    any
	Owner []any
	Name  string
	// Holder is the id of the row that has the name; nil: there is none.
	Holder any
	// Err says why: an error of package names, [ErrNameTaken], [ErrLacks], or what the server said.
	Err error
}
