package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/quota"
)

// insertUser makes an account. Their names are not unique, so nothing decides.
const insertUser = `INSERT INTO account (name, plan, created_at) VALUES (?, ?, UTC_TIMESTAMP(6))`

// CreateUser makes an account. Errors: the name errors of package schema, [ErrTier],
// onerow.ErrOutcomeUnknown, after which the account may be there. Statements: BEGIN,
// INSERT, SELECT, COMMIT.
func (s *Store) CreateUser(ctx context.Context, name string, tier Tier) (User, error) {
	parsed, err := names.KindName.Parse(name)
	if err != nil {
		return User{}, err
	}
	if _, ok := tier.Limit(); !ok {
		return User{}, fmt.Errorf("%w: %q", ErrTier, tier)
	}
	var u User
	err = onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
		done, err := tx.ExecContext(ctx, insertUser, parsed.Display, string(tier))
		if err != nil {
			return err
		}
		id, err := done.LastInsertId()
		if err != nil {
			return err
		}
		u, err = readUser(ctx, tx, id)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("store: create a user: %w", err)
	}
	return u, nil
}

const userColumns = `SELECT id, name, plan, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) FROM account `

// selectUser is by primary key.
const selectUser = userColumns + `WHERE id = ?`

func readUser(ctx context.Context, db onerow.DB, id int64) (User, error) {
	users, err := readUsers(ctx, db, selectUser, id)
	if err == nil && len(users) == 0 {
		err = fmt.Errorf("store: user %d: %w", id, onerow.ErrNotFound)
	}
	if err != nil {
		return User{}, err
	}
	return users[0], nil
}

func readUsers(ctx context.Context, db onerow.DB, query string, args ...any) ([]User, error) {
	users := []User{}
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var u User
		var created int64
		err := rows.Scan(&u.ID, &u.Name, (*string)(&u.Plan), &created)
		u.CreatedAt = time.UnixMicro(created).UTC()
		users = append(users, u)
		return err
	})
	return users, err
}

// User returns an account, or onerow.ErrNotFound. One statement.
func (s *Store) User(ctx context.Context, id int64) (User, error) { return readUser(ctx, s.db, id) }

// listUsers is over the primary key.
const listUsers = userColumns + `WHERE id > ? ORDER BY id LIMIT ?`

// Users returns accounts behind the id after, oldest first. One statement.
func (s *Store) Users(ctx context.Context, after int64, limit int) ([]User, error) {
	return readUsers(ctx, s.db, listUsers, after, limit)
}

// updateTier is by primary key; the version makes sure that the row changes.
const updateTier = `UPDATE account SET plan = ?, version = version + 1 WHERE id = ?`

// SetTier puts an account on another plan. The mark commits with it, so that the
// quota follows the new limit whatever happens next. Errors: [ErrTier],
// onerow.ErrNotFound, onerow.ErrOutcomeUnknown, after which it may simply be called
// again. Statements: BEGIN, UPDATE, mark, COMMIT, SELECT, and the quota's.
func (s *Store) SetTier(ctx context.Context, id int64, tier Tier) (User, error) {
	if _, ok := tier.Limit(); !ok {
		return User{}, fmt.Errorf("%w: %q", ErrTier, tier)
	}
	err := onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, updateTier, string(tier), id)
		if err == nil && n != 1 {
			err = fmt.Errorf("user %d: %w", id, onerow.ErrNotFound)
		}
		if err != nil {
			return err
		}
		return quota.Mark(ctx, tx, ResourceProject, id)
	})
	if err != nil {
		return User{}, fmt.Errorf("store: change the plan: %w", err)
	}
	s.settle(ctx, id)
	return s.User(ctx, id)
}

// selectTier is by primary key. A change of the plan that is not committed yet
// leaves a mark when it is, so this may well read the old one.
const selectTier = `SELECT plan FROM account WHERE id = ?`

// limitOf is the quota's limit: what the owner's plan allows.
func limitOf(ctx context.Context, tx *onerow.Tx, owner any) (int, error) {
	var tier string
	err := onerow.QueryRow(ctx, tx, selectTier, []any{owner}, &tier)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, quota.ErrNoOwner
	}
	if err != nil {
		return 0, err
	}
	limit, ok := Tier(tier).Limit()
	if !ok {
		return 0, fmt.Errorf("%w: user %v has %q", ErrTier, owner, tier)
	}
	return limit, nil
}

// countProjects is over the index (user_id, is_over_quota, id).
const countProjects = `SELECT COUNT(*), COALESCE(SUM(is_over_quota), 0) FROM project WHERE user_id = ?`

// Usage counts an account's active projects and those of them that are over the
// quota. One statement.
func (s *Store) Usage(ctx context.Context, userID int64) (active, over int, err error) {
	err = onerow.QueryRow(ctx, s.db, countProjects, []any{userID}, &active, &over)
	return active, over, err
}
