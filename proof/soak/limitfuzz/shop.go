package limitfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// plan has files that count by their number and by their bytes.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "file", Archive: "file_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
	Limits:  []schema.Limit{{}, {Sum: "bytes"}},
	Columns: []schema.Column{{Name: "bytes", Type: "BIGINT NOT NULL DEFAULT 0"}},
}}}

// file is a row.
type file struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Bytes  int64  `db:"bytes"`
}

// limits is how many there are: of the number, and of the bytes.
const limits = 2

// columns of a user have the maxima, and sums are what counts below them.
var (
	columns = [limits]string{"files", "bytes"}
	sums    = [limits]string{"COUNT(*)", "COALESCE(SUM(bytes), 0)"}
)

// shop is the application.
type shop struct {
	rules [limits]*limit.Rule
	files *repo.Repo[file]
}

func newShop() (*shop, error) {
	s := &shop{}
	var err error
	for i, name := range []string{"file", "file.bytes"} {
		if s.rules[i], err = limit.New(plan, name, quota.LimitQuery("SELECT "+columns[i]+" FROM user WHERE id = ?")); err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
	}
	if s.files, err = repo.New[file](plan, "file", s.rules[0], s.rules[1]); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return s, nil
}

// ownTables keep each maximum that a user ever had, in the transaction that changed it.
var ownTables = []string{
	`CREATE TABLE user (id BIGINT NOT NULL PRIMARY KEY, version BIGINT NOT NULL, files BIGINT NULL, bytes BIGINT NULL) ENGINE=InnoDB`,
	`CREATE TABLE maximum (user_id BIGINT NOT NULL, version BIGINT NOT NULL, files BIGINT NULL, bytes BIGINT NULL, PRIMARY KEY (user_id, version)) ENGINE=InnoDB`,
}

const (
	sqlMaximum = `UPDATE user SET version = version + 1, files = ?, bytes = ? WHERE id = ?`
	sqlKeep    = `INSERT INTO maximum (user_id, version, files, bytes) SELECT id, version, files, bytes FROM user WHERE id = ?`
)

// createTables makes all tables, and the owners 1 to that many, who may have nothing yet.
func createTables(ctx context.Context, db *sql.DB, owners int) error {
	if err := migrations.Up(ctx, db); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	for _, query := range append(plan.DDL(), ownTables...) {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	for id := 1; id <= owners; id++ {
		_, err := db.ExecContext(ctx, "INSERT INTO user VALUES (?, 1, 0, 0)", id)
		if err == nil {
			_, err = db.ExecContext(ctx, sqlKeep, id)
		}
		if err != nil {
			return fmt.Errorf("soak: %w", err)
		}
	}
	return nil
}

// allow changes a user's maxima; nil is none.
func (s *shop) allow(ctx context.Context, db onerow.DB, user int64, files, bytes any) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := onerow.AffectOne(ctx, tx, sqlMaximum, files, bytes, user); err != nil {
			return err
		}
		if err := onerow.AffectOne(ctx, tx, sqlKeep, user); err != nil {
			return err
		}
		return errors.Join(s.rules[0].Changed(ctx, tx, user), s.rules[1].Changed(ctx, tx, user))
	})
}
