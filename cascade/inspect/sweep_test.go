package inspect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// bucket is a store in memory, for one caller at a time.
type bucket struct {
	objects map[string]time.Time
	deleted map[string]int
	hook    func(ctx context.Context, names []string) error
}

func (b *bucket) Delete(ctx context.Context, names []string) error {
	if b.hook != nil {
		if err := b.hook(ctx, names); err != nil {
			return err
		}
	}
	if b.deleted == nil {
		b.deleted = map[string]int{}
	}
	for _, name := range names {
		b.deleted[name]++
		delete(b.objects, name)
	}
	return nil
}

func (b *bucket) List(_ context.Context, prefix string, fn func(string, time.Time) error) error {
	for _, name := range slices.Sorted(maps.Keys(b.objects)) {
		if at, ok := b.objects[name]; ok && strings.HasPrefix(name, prefix) {
			if err := fn(name, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bucket) Missing(_ context.Context, names []string) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := b.objects[name]; return ok }), nil
}

func sweepOf(t *testing.T, db *sql.DB, plan schema.Plan, b *bucket, o SweepOptions) (Swept, []string) {
	t.Helper()
	var found []string
	seen, err := Sweep(t.Context(), db, plan, b, o, func(f Finding) error {
		line := f.Name
		if f.Kind == rowWithoutObject {
			line = f.Table + " " + f.ID + ": " + line
		}
		if f.Deleted {
			line += " deleted"
		}
		found = append(found, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen, found
}

// TestSweepResources: rows of both tables, hidden ones too, keep their objects; young
// objects and young rows are left alone.
func TestSweepResources(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprint("indexed ", indexed), func(t *testing.T) {
			foresttest.Each(t, func(t *testing.T, db *sql.DB) {
				if indexed {
					dbtest.Exec(t, db, "ALTER TABLE screen ADD KEY (blob_key)")
					dbtest.Exec(t, db, "ALTER TABLE screen_archive ADD KEY (blob_key)")
				}
				foresttest.Grow(t, db, 1, 6, 0, 0, 0)
				dbtest.Exec(t, db, "UPDATE screen SET updated_at = UTC_TIMESTAMP(6) - INTERVAL 2 DAY, blob_key = IF(id = 100004, '', blob_key)")
				dbtest.Exec(t, db, "UPDATE screen_archive SET updated_at = UTC_TIMESTAMP(6) - INTERVAL 2 DAY, deletion_id = IF(id = 100003, 9, NULL)")
				dbtest.Exec(t, db, "UPDATE screen_archive SET updated_at = UTC_TIMESTAMP(6) WHERE id = 100005")
				old := time.Now().Add(-48 * time.Hour)
				objects := map[string]time.Time{"blob-100000": old, "blob-100003": old, "BLOB-100000": old, "blob-100000 ": old, "lost": old, "x'; --": old, "bad \xff": old,
					"young": time.Now(), "blob-100004": old}
				b := &bucket{objects: maps.Clone(objects)}
				lost := []string{"BLOB-100000", "bad \xff", "blob-100000 ", "blob-100004", "lost", "x'; --"}
				bare := []string{"screen 100002: blob-100002", "screen_archive 100001: blob-100001"}
				seen, found := sweepOf(t, db, forest, b, SweepOptions{})
				if !slices.Equal(found, append(slices.Clone(lost), bare...)) || len(b.deleted) > 0 {
					t.Errorf("%q, deleted %v", found, b.deleted)
				}
				if seen.Objects != 9 || seen.TooNew != 1 || seen.Unreferenced != 6 || seen.MissingObject != 2 || seen.Rows != 3 || !seen.Complete || (len(seen.Unindexed) == 0) != indexed {
					t.Errorf("%+v", seen)
				}
				if _, found = sweepOf(t, db, forest, b, SweepOptions{Limit: 2}); !slices.Equal(found, lost[:2]) {
					t.Errorf("with a limit: %q", found)
				}
				if seen, found = sweepOf(t, db, forest, b, SweepOptions{Limit: 7}); len(found) != 7 || seen.Complete {
					t.Errorf("with a limit: %q %+v", found, seen)
				}
				if _, found = sweepOf(t, db, forest, b, SweepOptions{Prefix: "BLOB", Grace: -1}); !slices.Equal(found, lost[:1]) {
					t.Errorf("with a prefix: %q", found)
				}
				if _, found = sweepOf(t, db, forest, b, SweepOptions{Grace: -1}); !slices.Contains(found, "young") || !slices.Contains(found, "screen_archive 100005: blob-100005") {
					t.Errorf("without grace: %q", found)
				}
				seen, _ = sweepOf(t, db, forest, b, SweepOptions{Delete: true})
				if seen.Deleted != 6 || len(b.objects) != 3 || len(b.deleted) != 6 || b.deleted["blob-100000"] > 0 {
					t.Errorf("%+v, deleted %v", seen, b.deleted)
				}
			})
		})
	}
}

// TestSweepAsksAgain: a row that appears after its object was found without one wins.
func TestSweepAsksAgain(t *testing.T) {
	db := foresttest.Open(t)
	old := time.Now().Add(-48 * time.Hour)
	b := &bucket{objects: map[string]time.Time{}}
	for i := range 250 {
		b.objects[fmt.Sprintf("o%03d", i)] = old
	}
	b.hook = func(context.Context, []string) error { // while the first hundred are deleted
		for _, table := range []string{"screen", "screen_archive"} {
			foresttest.Insert(t, db, table, map[string]any{"id": 1000 + len(table), "project_id": 1, "blob_key": "o" + fmt.Sprint(100+len(table))})
		}
		b.hook = nil
		return nil
	}
	seen, found := sweepOf(t, db, forest, b, SweepOptions{Delete: true})
	if seen.Deleted != 248 || len(found) != 248 || len(b.objects) != 2 {
		t.Errorf("%+v, left %v", seen, b.objects)
	}
	stop := errors.New("the store is away")
	b.objects["lost"] = old
	b.hook = func(context.Context, []string) error { return stop }
	if _, err := Sweep(t.Context(), db, forest, b, SweepOptions{Delete: true}, func(Finding) error { return nil }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := Sweep(t.Context(), db, schema.Plan{Resources: []schema.Resource{{Name: "a"}}}, b, SweepOptions{}, nil); !errors.Is(err, schema.ErrInvalidPlan) {
		t.Error(err)
	}
}

// TestSweepColumns: names in columns of bytes and of other character sets, more than a
// chunk of them, in tables with composite keys.
func TestSweepColumns(t *testing.T) {
	db := dbtest.Open(t)
	for _, stmt := range []string{
		"CREATE TABLE raw (a ENUM('z','y'), b INT, name VARBINARY(40), PRIMARY KEY (a, b), KEY (name))",
		"CREATE TABLE west (id INT PRIMARY KEY, name VARCHAR(40) CHARACTER SET latin1, KEY (name))",
		"INSERT INTO raw VALUES ('z', 1, x'62616420ff'), ('y', 2, 'r\xc3\xa9'), ('y', 1, 'not there'), ('z', 2, NULL)",
		"INSERT INTO west VALUES (1, 'caf\u00e9'), (2, '')",
	} {
		dbtest.Exec(t, db, stmt)
	}
	for i := range 1200 {
		dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO raw VALUES ('%c', %d, 'n%d')", 'y'+rune(i%2), 1000+i, i))
	}
	old := time.Now().Add(-48 * time.Hour)
	b := &bucket{objects: map[string]time.Time{"bad \xff": old, "r\u00e9": old, "caf\u00e9": old, "cafe": old, "\u65e5\u672c": old}}
	for i := range 1200 {
		b.objects[fmt.Sprint("n", i)] = old
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "raw", Key: []string{"a", "b"}, Asset: "name"}, {Name: "west", Key: []string{"id"}, Asset: "name"}}}
	seen, found := sweepOf(t, db, plan, b, SweepOptions{})
	if want := []string{"cafe", "\u65e5\u672c", "raw 'y,1: not there"}; !slices.Equal(found, want) || seen.Rows != 1204 {
		t.Errorf("%q, %+v", found, seen)
	}
}
