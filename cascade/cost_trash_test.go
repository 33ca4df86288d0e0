package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

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
		"INSERT INTO pot " + from("i"), "INSERT INTO soil " + from("i, i"), "INSERT INTO picture " + from("i, i, i"), "INSERT INTO label " + from("i, i"),
	} {
		dbtest.Exec(t, db, stmt)
	}
	plantTrash(t, db, grove)
	for _, stmt := range []string{
		"INSERT INTO onerow_trash_soil (onerow_job, onerow_step, id, pot) " + from("i, 1, i + 1000000, 1"),
		"INSERT INTO onerow_trash_picture (onerow_job, onerow_step, id, pot, blob_key) " + from("i, 2, i + 1000000, 1, CONCAT('p', i)"),
		"INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) " +
			from("i, 1, 'soil', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"),
		"INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) " +
			from("i, 2, 'picture', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"),
		"ANALYZE TABLE pot, soil, picture, label, onerow_trash, onerow_trash_soil, onerow_trash_picture",
	} {
		dbtest.Exec(t, db, stmt)
	}
}

func costsOfTrash(c *cost.Costs, work working) {
	var job int64
	c.Call("keep", func(ctx context.Context, db *sql.DB) error {
		err := execAll(ctx, db, "INSERT INTO soil VALUES (2000007, 7)")
		j, jerr := Enqueue(ctx, db, Deletion{Resource: "pot", ResourceID: "7"})
		job = j.ID
		return errors.Join(err, jerr, work(ctx, db, grove, Config{}, 1))
	})
	c.Call("keep nothing", func(ctx context.Context, db *sql.DB) error {
		_, err := EnqueueMany(ctx, db, []Deletion{{Resource: "pot", ResourceID: "8", NoTrash: true}})
		_, again := Enqueue(ctx, db, Deletion{Resource: "pot", ResourceID: "8", NoTrash: true})
		return errors.Join(err, again, work(ctx, db, grove, Config{}, 1))
	})
	c.Call("the trash", func(ctx context.Context, db *sql.DB) error {
		list, err := ListTrash(ctx, db, 0, 5)
		if err == nil && (len(list) != 5 || list[0].JobID != job || list[0].Rows != 4 || list[0].References != 1) {
			err = fmt.Errorf("%+v", list)
		}
		size, serr := ReadTrashSize(ctx, db, 3)
		if serr == nil && (size.Rows+size.References < 3 || !size.AtLeast) {
			serr = fmt.Errorf("%+v", size)
		}
		return errors.Join(err, serr, second(TrashOf(ctx, db, job)))
	})
	back := func(want error, rows int64) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			p, err := RestoreRows(ctx, db, grove, job, RestoreOptions{})
			if err == nil && p.Seen() != rows {
				err = fmt.Errorf("%+v", p)
			}
			return is(err, want)
		}
	}
	c.Call("restore", back(nil, 5))
	c.Call("restore again", back(nil, 0))
	c.Call("let the deletion go on", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(second(Retry(ctx, db, job)), work(ctx, db, grove, Config{}, 1))
	})
	c.Call("restore what is in the way", func(ctx context.Context, db *sql.DB) error {
		err := execAll(ctx, db, "INSERT INTO soil VALUES (7, 1)")
		p, rerr := RestoreRows(ctx, db, grove, job, RestoreOptions{})
		if rerr == nil && p.Stuck != 1 {
			rerr = fmt.Errorf("%+v", p)
		}
		return errors.Join(err, rerr, execAll(ctx, db, "DELETE FROM soil WHERE id = 7"), second(Retry(ctx, db, job)), work(ctx, db, grove, Config{}, 1))
	})
	c.Call("expire and purge", func(ctx context.Context, db *sql.DB) error {
		if err := second(ExpireTrash(ctx, db, job)); err != nil {
			return err
		}
		n, err := PurgeTrash(ctx, db, grove, &shelf{}, 1000)
		if err == nil && n == 0 {
			err = errors.New("nothing purged")
		}
		return errors.Join(err, is(second(RestoreRows(ctx, db, grove, job, RestoreOptions{})), ErrNotKept))
	})
}
