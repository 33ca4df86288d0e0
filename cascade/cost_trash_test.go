package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// grove is kept when it is deleted: rows that are read, that go unread, that name assets, and cut references.
var grove = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "pot", Key: []string{"id"}},
	{Name: "soil", Key: []string{"id"}, Parents: []schema.Edge{{Table: "pot", Columns: []string{"pot"}}}},
	{Name: "picture", Key: []string{"id"}, Asset: "blob_key", Parents: []schema.Edge{{Table: "pot", Columns: []string{"pot"}}}},
	{Name: "label", Key: []string{"id"}, Parents: []schema.Edge{{Table: "pot", Columns: []string{"pot"}, OnDelete: schema.OnDeleteDetach}}},
}}

// hedge has three levels, of which some rows do not come back.
var hedge = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "hedge", Key: []string{"id"}},
	{Name: "twig", Key: []string{"id"}, Parents: []schema.Edge{{Table: "hedge", Columns: []string{"hedge"}}}},
	{Name: "bud", Key: []string{"id"}, Parents: []schema.Edge{{Table: "twig", Columns: []string{"twig"}}}},
}}

// crowdTrash has as many rows of others in the grove and in its trash as rows says.
func crowdTrash(t *testing.T, dsn string, rows int) {
	t.Helper()
	db := dbtest.OpenDSN(t, dsn)
	from := func(what string) string { return cost.Numbers(rows) + "SELECT " + what + " FROM numbers" }
	for _, stmt := range []string{
		"CREATE TABLE pot (id BIGINT PRIMARY KEY)",
		"CREATE TABLE soil (id BIGINT PRIMARY KEY, pot BIGINT NOT NULL, KEY pot (pot))",
		"CREATE TABLE picture (id BIGINT PRIMARY KEY, pot BIGINT NOT NULL, blob_key VARCHAR(40) NOT NULL, KEY pot (pot), KEY blob_key (blob_key))",
		"CREATE TABLE label (id BIGINT PRIMARY KEY, pot BIGINT NULL, KEY pot (pot))",
		"CREATE TABLE hedge (id BIGINT PRIMARY KEY)",
		"CREATE TABLE twig (id BIGINT PRIMARY KEY, hedge BIGINT NOT NULL, KEY hedge (hedge))",
		"CREATE TABLE bud (id BIGINT PRIMARY KEY, twig BIGINT NOT NULL, KEY twig (twig))",
		"INSERT INTO hedge " + from("i"), "INSERT INTO twig " + from("i, i"), "INSERT INTO bud " + from("i, i"),
		"INSERT INTO pot " + from("i"), "INSERT INTO soil " + from("i, i"), "INSERT INTO picture " + from("i, i, i"), "INSERT INTO label " + from("i, i"),
	} {
		dbtest.Exec(t, db, stmt)
	}
	plantTrash(t, db, grove)
	plantTrash(t, db, hedge)
	dbtest.Exec(t, db, "ALTER TABLE onerow_trash_twig ADD COLUMN colour INT NULL")
	for _, stmt := range []string{
		"INSERT INTO onerow_trash_soil (onerow_job, onerow_step, id, pot) " + from("i, 1, i + 1000000, 1"),
		"INSERT INTO onerow_trash_picture (onerow_job, onerow_step, id, pot, blob_key) " + from("i, 2, i + 1000000, 1, CONCAT('p', i)"),
		"INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) " +
			from("i, 1, 'soil', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"),
		"INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) " +
			from("i, 2, 'picture', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"),
		"ANALYZE TABLE pot, soil, picture, label, hedge, twig, bud, onerow_trash, onerow_trash_soil, onerow_trash_picture",
	} {
		dbtest.Exec(t, db, stmt)
	}
}

func costsOfTrash(c *cost.Costs, work working) {
	var job int64
	c.Call("keep", func(ctx context.Context, db *sql.DB) error {
		err := execAll(ctx, db, "INSERT INTO soil VALUES (2000007, 7)")
		j, jerr := queue.Enqueue(ctx, db, queue.Deletion{Resource: "pot", ResourceID: "7"})
		job = j.ID
		return errors.Join(err, jerr, work(ctx, db, grove, Config{}, 1))
	})
	c.Call("keep nothing", func(ctx context.Context, db *sql.DB) error {
		_, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "pot", ResourceID: "8", NoTrash: true}})
		_, again := queue.Enqueue(ctx, db, queue.Deletion{Resource: "pot", ResourceID: "8", NoTrash: true})
		return errors.Join(err, again, work(ctx, db, grove, Config{}, 1))
	})
	c.Call("the trash", func(ctx context.Context, db *sql.DB) error {
		list, err := admin.ListTrash(ctx, db, 5)
		if err == nil && (len(list) != 5 || list[0].JobID != job || list[0].Rows != 4 || list[0].References != 1) {
			err = fmt.Errorf("%+v", list)
		}
		size, serr := admin.ReadTrashSize(ctx, db, 3)
		if serr == nil && (size.Rows+size.References < 3 || !size.AtLeast) {
			serr = fmt.Errorf("%+v", size)
		}
		return errors.Join(err, serr, second(admin.TrashOf(ctx, db, job)))
	})
	back := func(want error, rows int64) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			p, err := recover.Rows(ctx, db, grove, job, recover.Options{})
			if err == nil && p.Seen != rows {
				err = fmt.Errorf("%+v", p)
			}
			return is(err, want)
		}
	}
	c.Call("restore", back(nil, 5))
	c.Call("restore again", back(nil, 0))
	c.Call("let the deletion go on", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(second(queue.Retry(ctx, db, job)), work(ctx, db, grove, Config{}, 1))
	})
	c.Call("restore what is in the way", func(ctx context.Context, db *sql.DB) error {
		err := execAll(ctx, db, "INSERT INTO soil VALUES (7, 1)")
		p, rerr := recover.Rows(ctx, db, grove, job, recover.Options{})
		if rerr == nil && p.Stuck != 1 {
			rerr = fmt.Errorf("%+v", p)
		}
		return errors.Join(err, rerr, execAll(ctx, db, "DELETE FROM soil WHERE id = 7"), second(queue.Retry(ctx, db, job)), work(ctx, db, grove, Config{}, 1))
	})
	c.Call("restore what is not all there", func(ctx context.Context, db *sql.DB) error {
		err := execAll(ctx, db, "INSERT INTO twig VALUES (2000007, 7), (2000008, 7)", "INSERT INTO bud VALUES (2000007, 2000007), (2000008, 2000008)")
		some, serr := queue.Enqueue(ctx, db, queue.Deletion{Resource: "hedge", ResourceID: "7"})
		root, rerr := queue.Enqueue(ctx, db, queue.Deletion{Resource: "hedge", ResourceID: "8"})
		if err = errors.Join(err, serr, rerr, work(ctx, db, hedge, Config{}, 2), execAll(ctx, db,
			fmt.Sprintf("DELETE FROM onerow_trash_twig WHERE onerow_job = %d AND id = 2000007", some.ID),
			fmt.Sprintf("DELETE FROM onerow_trash_hedge WHERE onerow_job = %d", root.ID), "INSERT INTO hedge VALUES (8)", "INSERT INTO twig VALUES (2000007, 9)")); err != nil {
			return err
		}
		_, err = recover.Rows(ctx, db, hedge, some.ID, recover.Options{DryRun: true})
		p, serr := recover.Rows(ctx, db, hedge, some.ID, recover.Options{})
		if serr == nil && (p.RootMissing != "" || p.Rows != 5 || p.Removed != 1 || p.Stuck != 1) {
			serr = fmt.Errorf("%+v", p)
		}
		p, rerr = recover.Rows(ctx, db, hedge, root.ID, recover.Options{})
		if rerr == nil && (p.RootMissing == "" || p.Rows != 0 || p.Removed != 1 || p.Stuck != 2) {
			rerr = fmt.Errorf("%+v", p)
		}
		return errors.Join(err, serr, rerr)
	})
	stubborn := &shelf{hook: func(_ context.Context, names []string) error {
		if slices.Contains(names, "7") {
			return errors.New("7 cannot be deleted")
		}
		return nil
	}}
	c.Call("expire and purge", func(ctx context.Context, db *sql.DB) error {
		if err := second(admin.ExpireTrash(ctx, db, job)); err != nil {
			return err
		}
		if n, err := admin.PurgeTrash(ctx, db, grove, stubborn, 1000); err == nil || !strings.Contains(err.Error(), "7 cannot be deleted") {
			return fmt.Errorf("%d rows purged, %w", n, err)
		}
		n, err := admin.PurgeTrash(ctx, db, grove, &shelf{}, 1000)
		if err == nil && n == 0 {
			err = errors.New("nothing purged")
		}
		return errors.Join(err, is(second(recover.Rows(ctx, db, grove, job, recover.Options{})), recover.ErrNotKept))
	})
}
