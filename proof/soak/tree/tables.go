package tree

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// plan is account ── project ── item ── event (a leaf), with foreign keys: existing tables.
var plan = schema.Plan{Tables: []schema.Table{
	{Name: "account", Key: []string{"id"}},
	{Name: "project", Key: []string{"id"}, Parents: []schema.Edge{{Table: "account", Columns: []string{"account_id"}}}},
	{Name: "item", Key: []string{"id"}, Parents: []schema.Edge{{Table: "project", Columns: []string{"project_id"}}}},
	{Name: "event", Key: []string{"id"}, Parents: []schema.Edge{{Table: "item", Columns: []string{"item_id"}}}},
}}

var ddl = []string{
	`CREATE TABLE account (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE project (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, account_id BIGINT NOT NULL, name VARCHAR(40) NOT NULL,
	  CONSTRAINT project_account FOREIGN KEY (account_id) REFERENCES account (id)) ENGINE=InnoDB`,
	`CREATE TABLE item (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, project_id BIGINT NOT NULL, touched INT NOT NULL DEFAULT 0,
	  CONSTRAINT item_project FOREIGN KEY (project_id) REFERENCES project (id)) ENGINE=InnoDB`,
	`CREATE TABLE event (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, item_id BIGINT NOT NULL, body VARCHAR(80) NOT NULL,
	  CONSTRAINT event_item FOREIGN KEY (item_id) REFERENCES item (id)) ENGINE=InnoDB`,
	`CREATE TABLE digit (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB`,
	`CREATE TABLE token_log (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, job_id BIGINT NOT NULL, token BIGINT NOT NULL, pid INT NOT NULL, KEY job_id (job_id, id)) ENGINE=InnoDB`,
}

// perItem is how many events an item has.
const perItem = 99

const (
	database    = "soak_tree"
	connections = 32
)

// begin starts the server and makes the tables.
func begin(ctx context.Context) (*devdb.Server, *sql.DB, error) {
	server, err := devdb.Start(ctx, devdb.Options{Durable: true})
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("%s %s, durable settings\n", server.Engine(), server.Version())
	if err := server.CreateDatabase(ctx, database); err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	db, err := pool.Open(server.DSN(database))
	if err == nil {
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections) // database/sql keeps two, and the foreground would open connections all the time
		err = makeTables(ctx, db)
	}
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	return server, db, nil
}

func makeTables(ctx context.Context, db *sql.DB) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, stmt := range ddl {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	for n := range 100 {
		if _, err := db.ExecContext(ctx, "INSERT INTO digit VALUES (?)", n); err != nil {
			return err
		}
	}
	return live.Verify(ctx, db, plan)
}

// plant makes an account with about that many rows below it, and returns its id and
// how many they are.
func plant(ctx context.Context, db *sql.DB, rows int) (account, below int64, err error) {
	res, err := db.ExecContext(ctx, "INSERT INTO account (name) VALUES ('soak')")
	if err != nil {
		return 0, 0, err
	}
	if account, err = res.LastInsertId(); err != nil {
		return 0, 0, err
	}
	items := max(1, rows/(perItem+1))
	for items > 0 {
		n := min(items, 100)
		items -= n
		res, err := db.ExecContext(ctx, "INSERT INTO project (account_id, name) VALUES (?, 'soak')", account)
		if err != nil {
			return 0, 0, err
		}
		project, err := res.LastInsertId()
		if err != nil {
			return 0, 0, err
		}
		below++
		made, err := onerow.Affected(ctx, db, "INSERT INTO item (project_id) SELECT ? FROM digit WHERE n < ?", project, n)
		if err != nil {
			return 0, 0, err
		}
		below += made
		made, err = onerow.Affected(ctx, db, `INSERT INTO event (item_id, body) SELECT i.id, 'something of some length happened here'
FROM item AS i JOIN digit AS d ON d.n < ? WHERE i.project_id = ?`, perItem, project)
		if err != nil {
			return 0, 0, err
		}
		below += made
	}
	return account, below, nil
}

// condemn queues the deletion of an account.
func condemn(ctx context.Context, db *sql.DB, account int64) (queue.Job, error) {
	var job queue.Job
	d := queue.Deletion{Resource: "account", ResourceID: fmt.Sprint(account)}
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if d.ID, err = queue.Log(ctx, tx, d); err != nil {
			return err
		}
		job, err = queue.Enqueue(ctx, tx, d)
		return err
	})
	return job, err
}

// took is a job's time from its first claim to its end.
func took(ctx context.Context, db *sql.DB, id int64) (time.Duration, queue.Job, error) {
	job, err := queue.Get(ctx, db, id)
	if err != nil {
		return 0, job, err
	}
	if job.State != queue.Done {
		return 0, job, fmt.Errorf("job %d is %s: %s", id, job.State, job.LastError)
	}
	return job.FinishedAt.Sub(job.StartedAt), job, nil
}
