package main

import (
	"context"
	"fmt"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// project and note are rows of the toolkit's, one below the other.
type project struct {
	ID     int64        `db:"id"`
	UserID int64        `db:"user_id"`
	Name   string       `db:"name"`
	Amount int64        `db:"amount"`
	State  schema.State `db:"state"`
}

type note struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Text      string `db:"text"`
}

var plan = schema.Plan{Resources: []schema.Resource{
	{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{{Name: "amount", Type: "BIGINT NOT NULL DEFAULT 0"}},
	},
	{
		Name: "note", Owner: "project_id", Parent: schema.Parent{Resource: "project", Column: "project_id"},
		Label: schema.Label{Column: "text"},
	},
}}

// owner is whose rows they are.
const owner = 7

// Tables without the toolkit, for what a server itself does.
var bare = []string{
	`CREATE TABLE prove_pick (name VARBINARY(64) NOT NULL, who INT NOT NULL, UNIQUE KEY one_name (name)) ENGINE=InnoDB`,
	`CREATE TABLE prove_job (id INT PRIMARY KEY, state VARBINARY(16) NOT NULL, who INT NULL) ENGINE=InnoDB`,
	`CREATE TABLE prove_account (id INT PRIMARY KEY, amount BIGINT NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE prove_log (id BIGINT PRIMARY KEY AUTO_INCREMENT, what VARBINARY(64) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE prove_note (id INT PRIMARY KEY, text VARCHAR(10000) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE prove_time (id INT PRIMARY KEY AUTO_INCREMENT, at DATETIME(6) NOT NULL, stamp TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=InnoDB`,
	`CREATE TABLE prove_newer (id INT PRIMARY KEY, changed_at BIGINT NULL, text VARCHAR(20) NOT NULL) ENGINE=InnoDB`,
	`INSERT INTO prove_newer (id, text) VALUES (1, '')`,
	`CREATE TABLE prove_text (id BIGINT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(40)) ENGINE=InnoDB`,
}

// makeTables makes the toolkit's tables, the plan's and the bare ones.
func (s *site) makeTables(ctx context.Context) error {
	if err := migrations.Up(ctx, s.work); err != nil {
		return err
	}
	return s.run(ctx, append(plan.DDL(), bare...)...)
}

// kit is what programs have of the toolkit, made anew as by a process that starts.
type kit struct {
	projects *repo.Repo[project]
	notes    *repo.Repo[note]
	keys     *idempotency.Keys
}

func newKit() (k kit, err error) {
	if k.projects, err = repo.New[project](plan, "project"); err != nil {
		return k, fmt.Errorf("the plan: %w", err)
	}
	if k.notes, err = repo.New[note](plan, "note"); err != nil {
		return k, fmt.Errorf("the plan: %w", err)
	}
	k.keys, err = idempotency.New(idempotency.Config{})
	return k, err
}
