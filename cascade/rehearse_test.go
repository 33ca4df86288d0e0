package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// gallery: album (cover) ─── photo (file) ─── tag ─── mark (leaf)
var gallery = schema.Plan{Tables: []schema.Table{
	{Name: "album", Key: []string{"id"}, Asset: "cover"},
	{Name: "photo", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{{Table: "album", Columns: []string{"album_id"}}}},
	{Name: "tag", Key: []string{"id"}, Parents: []schema.Edge{{Table: "photo", Columns: []string{"photo_id"}}}},
	{Name: "mark", Key: []string{"id"}, Parents: []schema.Edge{{Table: "tag", Columns: []string{"tag_id"}}}},
}}

var galleryRows = []string{
	"CREATE TABLE album (id INT PRIMARY KEY, cover VARCHAR(100))",
	"CREATE TABLE photo (id INT PRIMARY KEY, album_id INT, file VARCHAR(100), KEY (album_id), FOREIGN KEY (album_id) REFERENCES album (id))",
	"CREATE TABLE tag (id INT PRIMARY KEY, photo_id INT, KEY (photo_id), FOREIGN KEY (photo_id) REFERENCES photo (id))",
	"CREATE TABLE mark (id INT PRIMARY KEY, tag_id INT, KEY (tag_id), FOREIGN KEY (tag_id) REFERENCES tag (id))",
	"CREATE TABLE hold (album_id INT, photo_id INT, tag_id INT, mark_id INT, FOREIGN KEY (album_id) REFERENCES album (id), FOREIGN KEY (photo_id) REFERENCES photo (id), FOREIGN KEY (tag_id) REFERENCES tag (id), FOREIGN KEY (mark_id) REFERENCES mark (id))",
	"INSERT INTO album VALUES (1, 'cover 1'), (2, 'cover 2')",
	"INSERT INTO photo VALUES (1, 1, 'file 1'), (2, 1, 'file 2'), (3, 1, NULL), (4, 2, 'file 4')",
	"INSERT INTO tag VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
	"INSERT INTO mark VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
}

func (s *shelf) list() string { return fmt.Sprint(slices.Sorted(maps.Keys(s.deleted))) }

// TestAssetsOfRowsThatStay: a row keeps its asset while it is to stay, because it cannot go
// or because something below it cannot, and loses it with the attempt that deletes it.
func TestAssetsOfRowsThatStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ held, gone string }{
		{"mark", "[file 2]"}, {"tag", "[file 2]"}, {"photo", "[file 2]"}, {"album", "[file 1 file 2]"},
	} {
		for _, cfg := range []Config{{}, {Chunk: 1, Batch: 1}} {
			t.Run(fmt.Sprint(c.held, cfg.Chunk), func(t *testing.T) {
				eachOf(t, append(galleryRows, "INSERT INTO hold ("+c.held+"_id) VALUES (1)"), func(t *testing.T, db *sql.DB) {
					cfg, store := cfg, &shelf{}
					cfg.Assets = store
					job := begin(t, db, "album", "1")
					for range 2 { // the second attempt knows from the start what is parked
						if got := finish(t, db, gallery, cfg, job.ID); got.State != queue.Leftovers || got.Parked != 1 || store.list() != c.gone {
							t.Errorf("%+v, deleted %s", got, store.list())
						}
						if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
							t.Fatal(err)
						}
					}
					dbtest.Exec(t, db, "DELETE FROM hold")
					dbtest.Exec(t, db, "DELETE FROM onerow_parked")
					if got := finish(t, db, gallery, cfg, job.ID); got.State != queue.Done || got.DeletedRows != 9 || store.list() != "[cover 1 file 1 file 2]" {
						t.Errorf("%+v, deleted %s", got, store.list())
					}
					if n := count(t, db, "SELECT COUNT(*) FROM album JOIN photo ON album_id = album.id"); n != 1 {
						t.Errorf("%d photos", n)
					}
				})
			})
		}
	}
}

// TestAssetsOfOthersRows: between the batch that deletes what is below a row, and the one
// that is to delete the row, others take the job, the row, or the schema. Its asset stays.
func TestAssetsOfOthersRows(t *testing.T) {
	for name, c := range map[string]struct {
		does string
		err  error
	}{
		"the job":    {"UPDATE onerow_job SET token = token + 1, worker = 'other', due_at = due_at + INTERVAL 1 HOUR", fault.ErrLeaseLost},
		"the row":    {"UPDATE photo SET album_id = 2 WHERE album_id = 1", nil},
		"the schema": {"CREATE TABLE keeper (id INT, FOREIGN KEY (id) REFERENCES photo (id))", fault.ErrDrift},
	} {
		t.Run(name, func(t *testing.T) {
			eachOf(t, galleryRows, func(t *testing.T, db *sql.DB) {
				store, done := &shelf{}, false
				var w *Worker
				w, err := NewWorker(db, gallery, Config{Assets: store, Chunk: 1, Progress: true, OnEvent: progressed(func(queue.Job) {
					if !done {
						done = true
						dbtest.Exec(t, db, c.does)
						w.graphCache.mu.Lock()
						defer w.graphCache.mu.Unlock()
						w.graphCache.read = time.Time{}
					}
				})})
				if err != nil {
					t.Fatal(err)
				}
				begin(t, db, "album", "1")
				won, err := w.claim(t.Context(), w.cfg.ClaimJobs)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.work(t.Context(), won.Jobs[0], false); !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
				want := "[]"
				if c.err == nil {
					want = "[cover 1]"
				}
				if store.list() != want || count(t, db, "SELECT COUNT(*) FROM photo WHERE id IN (1, 2)") != 2 {
					t.Errorf("deleted %s", store.list())
				}
			})
		})
	}
}

// TestFenceBeforeAssets: who has lost the job deletes no more assets of it.
func TestFenceBeforeAssets(t *testing.T) {
	photos := "INSERT INTO photo VALUES (1000, 1, 'more 1000')"
	for i := 1001; i < 1150; i++ {
		photos += fmt.Sprintf(", (%d, 1, 'more %d')", i, i)
	}
	eachOf(t, append(galleryRows, photos), func(t *testing.T, db *sql.DB) {
		store := &shelf{}
		w, err := NewWorker(db, gallery, Config{Assets: store})
		if err != nil {
			t.Fatal(err)
		}
		job := begin(t, db, "album", "1")
		won, err := w.claim(t.Context(), w.cfg.ClaimJobs)
		if err != nil {
			t.Fatal(err)
		}
		store.hook = func(context.Context, []string) error {
			dbtest.Exec(t, db, "UPDATE onerow_job SET token = token + 1 WHERE id = ?", job.ID)
			return nil
		}
		if err := w.work(t.Context(), won.Jobs[0], false); !errors.Is(err, fault.ErrLeaseLost) || store.names() != 100 {
			t.Errorf("%v, deleted %d, want the 100 of the first call", err, store.names())
		}
	})
}
