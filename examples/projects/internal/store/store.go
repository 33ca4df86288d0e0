package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

var (
	// ErrTier means that there is no such plan to subscribe to.
	ErrTier = errors.New("store: no such plan")
	// ErrArchived means that the project is archived, and so it takes nothing new.
	ErrArchived = errors.New("store: the project is archived")
	// ErrText means that a comment cannot be stored as it is.
	ErrText = errors.New("store: the text cannot be stored")
	// ErrUploadLost means that the upload took so long that its file was swept.
	ErrUploadLost = errors.New("store: the upload took too long and was given up; upload the file again")
	// ErrUploadBroken means that the body of the upload ended early.
	ErrUploadBroken = errors.New("store: the upload broke off")
)

// Store is the application's data. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	files *Files
	log   *slog.Logger

	projects *repo.Repo[Project]
	screens  *repo.Repo[Screen]
	comments *repo.Repo[Comment]
	rule     *quota.Rule
}

// New returns a store on a migrated database. No statement is
// run.
func New(db *sql.DB, files *Files, log *slog.Logger) (*Store, error) {
	s := &Store{db: db, files: files, log: log}
	var errs [4]error
	s.projects, errs[0] = repo.New[Project](Plan(), ResourceProject)
	s.screens, errs[1] = repo.New[Screen](Plan(), ResourceScreen)
	s.comments, errs[2] = repo.New[Comment](Plan(), ResourceComment)
	s.rule, errs[3] = quota.New(Plan(), ResourceProject, limitOf)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return s, nil
}

// Rule is the quota of projects, for the sweep.
func (s *Store) Rule() *quota.Rule { return s.rule }

// Ping says whether the database answers. One statement.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return onerow.QueryRow(ctx, s.db, `SELECT 1`, nil, &one)
}

// settle recalculates the quota of an owner whose projects changed, so that the
// answer shows it at once. What was changed is committed already: an error here
// only means that the sweep does it a little later.
func (s *Store) settle(ctx context.Context, userID int64) {
	if err := s.rule.Settle(ctx, s.db, userID); err != nil {
		s.log.WarnContext(ctx, "quota: left to the sweep", "user", userID, "error", err)
	}
}

// settled is the answer of a verb on a project: its owner's quota is settled and
// the row read again if it changed.
func (s *Store) settled(ctx context.Context, res onerow.Result[Project], err error) (onerow.Result[Project], error) {
	if err != nil {
		return res, err
	}
	s.settle(ctx, res.Row.UserID)
	now, err := s.projects.Get(ctx, s.db, res.Row.ID)
	switch {
	case err == nil:
		res.Row = now
	case !errors.Is(err, onerow.ErrNotFound): // deleted since: then it is as it was
		s.log.WarnContext(ctx, "the project as it was before the quota", "project", res.Row.ID, "error", err)
	}
	return res, nil
}

// Job returns a cascade job, or queue.ErrNoJob. One statement.
func (s *Store) Job(ctx context.Context, id int64) (queue.Job, error) {
	return queue.Get(ctx, s.db, id)
}

// readTrash is by primary key: the name of a project while its row is hidden.
const readTrash = `SELECT user_id, name FROM project_archive WHERE id = ? AND deletion_id IS NOT NULL`

// Trash returns owner and name of a project whose deletion is not finished, as
// long as its row is there; onerow.ErrNotFound after that. One statement.
func (s *Store) Trash(ctx context.Context, projectID int64) (userID int64, name string, err error) {
	err = onerow.QueryRow(ctx, s.db, readTrash, []any{projectID}, &userID, &name)
	if errors.Is(err, sql.ErrNoRows) {
		err = onerow.ErrNotFound
	}
	return userID, name, err
}

// countBelow is over the indexes (project_id, …) and (screen_id, …). It grows with
// the project, so only the page that shows a deletion asks.
const countBelow = `SELECT
  (SELECT COUNT(*) FROM screen WHERE project_id = ?) + (SELECT COUNT(*) FROM screen_archive WHERE project_id = ?),
  (SELECT COUNT(*) FROM comment WHERE screen_id IN (SELECT id FROM screen WHERE project_id = ?)) +
  (SELECT COUNT(*) FROM comment WHERE screen_id IN (SELECT id FROM screen_archive WHERE project_id = ?))`

// Below counts what is below a project: screens and comments. One statement.
func (s *Store) Below(ctx context.Context, projectID int64) (screens, comments int64, err error) {
	err = onerow.QueryRow(ctx, s.db, countBelow, []any{projectID, projectID, projectID, projectID}, &screens, &comments)
	return screens, comments, err
}

// page makes the options of a list.
func page(state schema.State, cursor string, limit int) repo.PageOptions {
	return repo.PageOptions{State: state, After: repo.Cursor(cursor), Limit: limit}
}
