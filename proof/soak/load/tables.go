package load

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// The resources of the soak.
const (
	ProjectResource = "project"
	ScreenResource  = "screen"
	CommentResource = "comment"
)

// Project is a root row.
type Project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Hits   int64  `db:"hits"`
}

// Screen is a row below a project, with an archive of its own.
type Screen struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Filename  string `db:"filename"`
}

// Comment is a row below a screen.
type Comment struct {
	ID       int64  `db:"id"`
	ScreenID int64  `db:"screen_id"`
	Body     string `db:"body"`
}

// Plan declares them, for one server that takes writes or for a cluster of several.
func Plan(cluster bool) schema.Plan {
	return schema.Plan{Cluster: cluster, Resources: []schema.Resource{
		{Name: ProjectResource, Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
			Quota: schema.Quota{Flag: "is_over_quota"}, Columns: []schema.Column{{Name: "hits", Type: "BIGINT NOT NULL DEFAULT 0"}}},
		{Name: ScreenResource, Archive: "screen_archive", Owner: "project_id",
			Label:  schema.Label{Column: "filename", Kind: names.KindFilename},
			Parent: schema.Parent{Resource: ProjectResource, Column: "project_id"}},
		{Name: CommentResource, Owner: "screen_id", Parent: schema.Parent{Resource: ScreenResource, Column: "screen_id"},
			Columns: []schema.Column{{Name: "body", Type: "VARCHAR(100) NOT NULL"}}},
	}, Tables: []schema.Table{
		{Name: FolderTable, Key: []string{"id"}, Trash: schema.Age(time.Hour)},
		{Name: "soak_leaf", Key: []string{"id"}, Trash: schema.Age(time.Hour), Parents: []schema.Edge{{Table: FolderTable, Columns: []string{"folder"}}}},
	}}
}

// ownTables take the effects. None of them has a unique key: what is doubled must show.
var ownTables = []string{
	`CREATE TABLE soak_user (id BIGINT NOT NULL PRIMARY KEY, max_projects BIGINT NOT NULL, version BIGINT NOT NULL DEFAULT 1) ENGINE=InnoDB`,
	`CREATE TABLE soak_effect (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, kind VARBINARY(16) NOT NULL, idem_key VARBINARY(255) NOT NULL,
  value VARBINARY(64) NOT NULL, token BIGINT NOT NULL, KEY idem_key (kind, idem_key)) ENGINE=InnoDB`,
	`CREATE TABLE soak_ticket (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, series VARBINARY(255) NOT NULL, claim_key VARBINARY(255) NOT NULL,
  from_no BIGINT NOT NULL, to_no BIGINT NOT NULL, KEY claim (series, claim_key)) ENGINE=InnoDB`,
	`CREATE TABLE soak_applied (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, stream VARBINARY(64) NOT NULL, seq BIGINT NOT NULL,
  amount BIGINT NOT NULL, KEY message (stream, seq)) ENGINE=InnoDB`,
	`CREATE TABLE soak_told (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, leaves BIGINT NOT NULL, body VARCHAR(100) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE soak_folder (id BIGINT NOT NULL PRIMARY KEY, body VARCHAR(100) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE soak_leaf (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, folder BIGINT NOT NULL, body VARCHAR(100) NOT NULL, KEY folder (folder)) ENGINE=InnoDB`,
}

const insertUser = `INSERT INTO soak_user (id, max_projects) VALUES (?, 5)`

// CreateTables makes the tables of a soak in an empty database, with that many owners.
func CreateTables(ctx context.Context, db *sql.DB, cluster bool, owners int) error {
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	for _, stmt := range append(Plan(cluster).DDL(), ownTables...) {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("soak: %w: %s", err, stmt)
		}
	}
	if err := createTrash(ctx, db, Plan(cluster)); err != nil {
		return err
	}
	for id := 1; id <= owners; id++ {
		if _, err := db.ExecContext(ctx, insertUser, id); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
	}
	return live.Verify(ctx, db, Plan(cluster))
}

func createTrash(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return err
	}
	ddl, err := cat.TrashDDL(plan)
	for _, stmt := range ddl {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("soak: %w: %s", err, stmt)
		}
	}
	return err
}

// Rule is the quota of projects.
func Rule(cluster bool) (*quota.Rule, error) {
	return quota.New(Plan(cluster), ProjectResource, quota.LimitQuery(`SELECT max_projects FROM soak_user WHERE id = ?`))
}
