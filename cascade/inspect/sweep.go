package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// AssetStore is a store whose objects can be listed and deleted.
type AssetStore interface {
	// Delete deletes what is there of the names, at most 100 at a time: a missing object is no error.
	Delete(ctx context.Context, names []string) error
	// List calls fn for each object whose name begins with prefix, with the time at which
	// it was written last, by the store's clock. An error of fn ends it and is returned.
	// Objects may be deleted meanwhile, those that fn was called for among them.
	List(ctx context.Context, prefix string, fn func(name string, modified time.Time) error) error
	// Missing returns those of the names, at most 500, that no object has.
	Missing(ctx context.Context, names []string) ([]string, error)
}

// SweepOptions say what [Sweep] does. The zero value looks at everything and deletes nothing.
type SweepOptions struct {
	// Prefix limits the sweep to names that begin with it.
	Prefix string
	// Grace is how old an object must be, and a row of a table that the toolkit made, to
	// count: younger ones belong to work that goes on. Default 24h; negative: any age.
	Grace time.Duration
	// Delete deletes the objects without rows. Rows are never deleted.
	Delete bool
	// Limit ends the sweep after so many findings. 0: none.
	Limit int
}

const defaultSweepGrace = 24 * time.Hour

// The kinds of a [Finding].
const (
	objectWithoutRow = "object without row"
	rowWithoutObject = "row without object"
)

// Finding is an object that no row names, or a row whose object is not there.
type Finding struct {
	// Kind is "object without row", or "row without object", which alone has Table and ID.
	Kind string `json:"kind"`
	// Name is the object's name.
	Name string `json:"name"`
	// Modified is when the object was written last, by the store's clock.
	Modified time.Time `json:"modified,omitzero"`
	// Deleted says whether the object was deleted.
	Deleted bool `json:"deleted,omitempty"`
	// Table and ID name the row; the id is encoded, see [onerow.EncodeKey].
	Table string `json:"table,omitempty"`
	ID    string `json:"id,omitempty"`
}

// Swept is what a [Sweep] has seen.
type Swept struct {
	Objects       int64 `json:"objects"` // that were listed
	TooNew        int64 `json:"young"`   // of them, left alone because of their age
	Unreferenced  int64 `json:"lost"`    // without a row
	Deleted       int64 `json:"deleted"` // of these
	Rows          int64 `json:"rows"`    // old enough rows that name an asset
	MissingObject int64 `json:"bare"`    // of them, without an object
	// Unindexed are the tables without an index that begins with the asset's column, in the trash too:
	// they are read from end to end for every 5,000 objects.
	Unindexed []string `json:"unindexed,omitempty"`
	// Complete is false where the sweep has ended at its limit.
	Complete bool `json:"complete"`
}

const (
	sweepChunk    = 500  // names in a question, by index
	sweepBigChunk = 5000 // without an index, when every question reads a table
	sweepDelete   = 100  // objects that are deleted at once: the promise of AssetStore.Delete
)

// Sweep compares the store with all asset columns of the plan, in both tables of each
// resource: first the objects that no row names, then the rows whose object is not
// there. fn is called for each finding, after the deletion if there is one.
//
// Names are compared byte by byte, as the worker hands them to the store, and asked for in
// chunks, so memory does not grow with the store. Before objects are deleted the
// tables are asked again, all in one statement: a row that has appeared meanwhile wins.
// What cannot be excluded is a row that comes to name an old object between that
// question and the deletion: so the names of assets must never be used again, and the
// row must be written before its object, or within the grace period after it. Objects
// that something outside the plan names are taken for lost: look at a dry run first,
// and give the store a prefix of its own.
//
// A row is reported if it named the missing object before and after the store was asked,
// and no deletion hides it. Tables that somebody else designed do not tell a row's age.
//
// Statements: 10 of the catalog, 1 for the time, 1 per 500 objects (5,000 without an index,
// and then each table is read), 1 more per 100 to delete; 1 per 500 rows, 1 more where some
// lack their object. Nothing is locked. Errors: [schema.ErrInvalidPlan], for a plan without assets, too.
func Sweep(ctx context.Context, db onerow.DB, plan schema.Plan, store AssetStore, o SweepOptions, fn func(Finding) error) (Swept, error) {
	if o.Grace == 0 {
		o.Grace = defaultSweepGrace
	}
	o.Grace = max(o.Grace, 0)
	s, err := newSweep(ctx, db, plan, store, o, fn)
	if err != nil {
		return Swept{}, fmt.Errorf("cascade: sweep: %w", err)
	}
	err = s.objects(ctx)
	if err == nil {
		err = s.rows(ctx)
	}
	switch {
	case err == nil:
		s.seen.Complete = true
	case !errors.Is(err, errEnough):
		return s.seen, fmt.Errorf("cascade: sweep: %w", err)
	}
	return s.seen, nil
}

func newSweep(ctx context.Context, db onerow.DB, plan schema.Plan, store AssetStore, o SweepOptions, fn func(Finding) error) (*sweep, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	plan = assetPlan(plan)
	nodes := plan.Nodes()
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%w: it names no assets, so every object would seem lost", schema.ErrInvalidPlan)
	}
	g, err := graph.Read(ctx, db, plan)
	if err != nil {
		return nil, err
	}
	s := &sweep{db: db, store: store, o: o, fn: fn, chunk: sweepChunk}
	for _, n := range nodes {
		for _, found := range g.Nodes[n.Name].Tables {
			t := newAssetTable(found, o.Grace)
			if !found.Listed || !t.plain {
				s.chunk, s.seen.Unindexed = sweepBigChunk, append(s.seen.Unindexed, t.Name)
			}
			if found.Trash != nil {
				s.chunk, s.seen.Unindexed = sweepBigChunk, append(s.seen.Unindexed, ident.TrashTable(t.Name))
			}
			s.tables = append(s.tables, t)
		}
	}
	s.now, err = dbtime.Now(ctx, db)
	return s, err
}

// object is one of the store's.
type object struct {
	name     string
	modified time.Time
}

// objects lists the store and looks for the rows of its objects in chunks.
func (s *sweep) objects(ctx context.Context) error {
	var chunk []object
	err := s.store.List(ctx, s.o.Prefix, func(name string, modified time.Time) error {
		s.seen.Objects++
		if modified.After(s.now.Add(-s.o.Grace)) {
			s.seen.TooNew++
			return nil
		}
		if chunk = append(chunk, object{name, modified}); len(chunk) < s.chunk {
			return nil
		}
		full := chunk
		chunk = nil
		return s.unreferenced(ctx, full)
	})
	if err != nil {
		return err
	}
	return s.unreferenced(ctx, chunk)
}

// unreferenced finds those of the objects that no row names.
func (s *sweep) unreferenced(ctx context.Context, chunk []object) error {
	named, err := s.named(ctx, chunk)
	if err != nil {
		return err
	}
	chunk = slices.DeleteFunc(chunk, func(o object) bool { return named[o.name] })
	for part := range slices.Chunk(chunk, sweepDelete) {
		if s.o.Limit > 0 {
			part = part[:min(len(part), s.o.Limit-s.found)]
		}
		if s.o.Delete && len(part) > 0 {
			if part, err = s.remove(ctx, part); err != nil {
				return err
			}
		}
		for _, o := range part {
			s.seen.Unreferenced++
			if err := s.tell(Finding{Kind: objectWithoutRow, Name: o.name, Modified: o.modified.UTC(), Deleted: s.o.Delete}); err != nil {
				return err
			}
		}
	}
	return nil
}

// errEnough ends a sweep at its limit.
var errEnough = errors.New("enough")

// tell tells a finding, and ends the sweep at its limit.
func (s *sweep) tell(f Finding) error {
	s.found++
	if err := s.fn(f); err != nil || s.found != s.o.Limit {
		return err
	}
	return errEnough
}

// remove asks the tables again and deletes the objects that still have no row.
func (s *sweep) remove(ctx context.Context, part []object) ([]object, error) {
	named, err := s.named(ctx, part)
	if err != nil {
		return nil, err
	}
	part = slices.DeleteFunc(slices.Clone(part), func(o object) bool { return named[o.name] })
	names := make([]string, len(part))
	for i, o := range part {
		names[i] = o.name
	}
	if len(names) == 0 {
		return nil, nil
	}
	if err := s.store.Delete(ctx, names); err != nil {
		return nil, err
	}
	s.seen.Deleted += int64(len(names))
	return part, nil
}
