package recover_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// drawer has rows that are read, rows that go unread with and without a foreign key, and cut references.
var drawer = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "folder", Key: []string{"id"}},
	{Name: "file", Key: []string{"id"}, Parents: []schema.Edge{{Table: "folder", Columns: []string{"above"}}}},
	{Name: "page", Key: []string{"id"}, Parents: []schema.Edge{{Table: "file", Columns: []string{"above"}}}},
	{Name: "remark", Key: []string{"id"}, Parents: []schema.Edge{{Table: "file", Columns: []string{"above"}}}},
	{Name: "link", Key: []string{"id"}, Parents: []schema.Edge{{Table: "file", Columns: []string{"above"}, OnDelete: schema.OnDeleteDetach}}},
}}

const (
	writers        = 3
	writesPerRound = 120
	drawerRounds   = 6
	drawerFolders  = 3
)

// written is a row of a table, as its writer has left it.
type written struct {
	table string
	id    int64
}

type leftAs struct{ above, version int64 }

// writer changes its own rows, and knows what must be there in the end: what the server said it has done.
type writer struct {
	db   *sql.DB
	r    *rand.Rand
	next int64
	rows map[written]leftAs
}

// TestTrashWriters: rows are inserted, changed and moved while they are deleted and brought back. In the end
// each is there as who wrote last has left it.
func TestTrashWriters(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			db, ctx := dbtest.Open(t, dbtest.Isolation(level)), t.Context()
			if err := migrations.Up(ctx, db); err != nil {
				t.Fatal(err)
			}
			below := func(table, null, fk string) string {
				return "CREATE TABLE " + table + " (id BIGINT PRIMARY KEY, above BIGINT " + null + ", version INT NOT NULL, KEY above (above)" + fk + ")"
			}
			for _, stmt := range []string{
				"CREATE TABLE folder (id BIGINT PRIMARY KEY, version INT NOT NULL)",
				below("file", "NOT NULL", ", FOREIGN KEY (above) REFERENCES folder (id)"),
				below("page", "NOT NULL", ", FOREIGN KEY (above) REFERENCES file (id)"),
				below("remark", "NOT NULL", ""),
				below("link", "NULL", ", FOREIGN KEY (above) REFERENCES file (id)"),
			} {
				dbtest.Exec(t, db, stmt)
			}
			for id := range drawerFolders {
				dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO folder VALUES (%d, 0)", id))
			}
			if err := createTrash(ctx, db, drawer); err != nil {
				t.Fatal(err)
			}
			all := make([]*writer, writers)
			for i := range all {
				all[i] = &writer{db: db, r: rand.New(rand.NewPCG(uint64(i), 17)), next: int64(i), rows: map[written]leftAs{}} //nolint:gosec // to be repeated
				if err := all[i].write(ctx, writesPerRound); err != nil {
					t.Fatal(err)
				}
			}
			for round := range drawerRounds {
				group, busy := errgroup.WithContext(ctx)
				for _, w := range all {
					group.Go(func() error { return w.write(busy, writesPerRound) })
				}
				group.Go(func() error { return thereAndBack(busy, db, fmt.Sprint(round%drawerFolders)) })
				if err := group.Wait(); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if err := compareWritten(ctx, db, all); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		})
	}
}

// thereAndBack deletes a folder and brings it back.
func thereAndBack(ctx context.Context, db *sql.DB, folder string) error {
	w, err := cascade.NewWorker(db, drawer, cascade.Config{Batch: 20, Chunk: 10, Target: -1})
	if err != nil {
		return err
	}
	job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "folder", ResourceID: folder, From: queue.FromOperator})
	if err != nil {
		return err
	}
	for job.State != queue.Done {
		if _, err := w.RunOnce(ctx); err != nil {
			return err
		}
		if job, err = queue.Get(ctx, db, job.ID); err == nil && job.State == queue.Dead {
			err = fmt.Errorf("the job is dead: %s", job.LastError)
		}
		if err != nil {
			return err
		}
	}
	_, p, err := recover.Job(ctx, db, drawer, job.ID, recover.Options{Batch: 15})
	if err == nil && (p.Stuck > 0 || p.Changed > 0 || p.Rows == 0) {
		err = fmt.Errorf("%+v", p)
	}
	return err
}

// write sends as many writes, of which some change nothing.
func (w *writer) write(ctx context.Context, writes int) error {
	tables := []string{"file", "page", "remark", "link"}
	for range writes {
		table := tables[w.r.IntN(len(tables))]
		mine := w.of(table)
		above := int64(w.r.IntN(drawerFolders))
		if table != "file" {
			files := w.of("file")
			if len(files) == 0 {
				table, mine = "file", nil
			} else {
				above = files[w.r.IntN(len(files))].id
			}
		}
		row := written{table, w.next + writers + 1<<33}
		as := leftAs{above, 0}
		query, args := "INSERT INTO "+table+" (id, above, version) VALUES (?, ?, 0)", []any{row.id, above}
		if kind := w.r.IntN(3); kind > 0 && len(mine) > 10 {
			row = mine[w.r.IntN(len(mine))]
			as = w.rows[row]
			if as.version++; kind == 1 {
				query, args = "UPDATE "+table+" SET version = version + 1 WHERE id = ?", []any{row.id}
			} else {
				query, args = "UPDATE "+table+" SET above = ?, version = version + 1 WHERE id = ? AND above = ?", []any{above, row.id, as.above}
				as.above = above
			}
		} else {
			w.next += writers
		}
		n, err := onerow.Affected(ctx, w.db, query, args...)
		var my *mysql.MySQLError
		switch {
		case errors.As(err, &my) && slices.Contains([]uint16{1452, 1213, 1205, 1020}, my.Number): // no row above, or run it again
		case err != nil:
			return err
		case n == 1:
			w.rows[row] = as
		}
	}
	return nil
}

// of is the writer's rows of a table, in order.
func (w *writer) of(table string) (rows []written) {
	for row := range w.rows {
		if row.table == table {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b written) int { return int(a.id - b.id) })
	return rows
}

func compareWritten(ctx context.Context, db *sql.DB, all []*writer) error {
	want, got := map[written]leftAs{}, map[written]leftAs{}
	for _, w := range all {
		maps.Copy(want, w.rows)
	}
	var diff []string
	for _, table := range []string{"file", "page", "remark", "link"} {
		err := onerow.Query(ctx, db, "SELECT id, COALESCE(above, -1), version FROM "+table, nil, func(rows *sql.Rows) error {
			row, as := written{table: table}, leftAs{}
			err := rows.Scan(&row.id, &as.above, &as.version)
			got[row] = as
			return err
		})
		if err != nil {
			return err
		}
	}
	for row, as := range want {
		if left, ok := got[row]; !ok || left != as {
			diff = append(diff, fmt.Sprintf("%s %d is %v (%v), its writer has left it as %v", row.table, row.id, left, ok, as))
		}
	}
	if len(got) != len(want) {
		diff = append(diff, fmt.Sprintf("%d rows, want %d", len(got), len(want)))
	}
	slices.Sort(diff)
	if len(diff) > 0 {
		return fmt.Errorf("%d rows differ:\n%s", len(diff), strings.Join(diff[:min(len(diff), 10)], "\n"))
	}
	return nil
}
