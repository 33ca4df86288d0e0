package store

import (
	"context"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// CreateProject makes a project of a user. With a request id a retry returns the
// first call's project, Replayed. Errors: onerow.ErrNotFound for the user, and
// those of repo's Create. Accounts are never deleted, so that the user exists is
// asked before, not in the transaction.
func (s *Store) CreateProject(ctx context.Context, userID int64, name, requestID string) (onerow.Result[Project], error) {
	if _, err := s.User(ctx, userID); err != nil {
		return onerow.Result[Project]{}, err
	}
	var opts []repo.CreateOption
	if requestID != "" {
		opts = append(opts, repo.RequestID(requestID))
	}
	res, err := s.projects.Create(ctx, s.db, Project{UserID: userID, Name: name}, opts...)
	return s.settled(ctx, res, err)
}

// Project returns a project, active or archived, or onerow.ErrNotFound.
func (s *Store) Project(ctx context.Context, id int64) (Project, error) {
	return s.projects.Get(ctx, s.db, id)
}

// Projects returns a page of a user's projects. Errors: onerow.ErrNotFound for the
// user, repo.ErrInvalidCursor. Two statements.
func (s *Store) Projects(ctx context.Context, userID int64, state schema.State, cursor string, limit int) (repo.Page[Project], error) {
	if _, err := s.User(ctx, userID); err != nil {
		return repo.Page[Project]{}, err
	}
	return s.projects.List(ctx, s.db, userID, page(state, cursor, limit))
}

// RenameProject is repo's Rename.
func (s *Store) RenameProject(ctx context.Context, id int64, name string) (Project, error) {
	res, err := s.projects.Rename(ctx, s.db, id, name)
	return res.Row, err
}

// ArchiveProject is repo's Archive; the quota is settled.
func (s *Store) ArchiveProject(ctx context.Context, id int64) (Project, error) {
	res, err := s.projects.Archive(ctx, s.db, id)
	res, err = s.settled(ctx, res, err)
	return res.Row, err
}

// ActivateProject is repo's Activate, so the project may have another name; the
// quota is settled.
func (s *Store) ActivateProject(ctx context.Context, id int64) (Project, error) {
	res, err := s.projects.Activate(ctx, s.db, id)
	res, err = s.settled(ctx, res, err)
	return res.Row, err
}

// DeleteProject is repo's Delete; the quota is settled.
func (s *Store) DeleteProject(ctx context.Context, id int64, grace time.Duration) (repo.Deleted[Project], error) {
	var opts []repo.DeleteOption
	if grace > 0 {
		opts = append(opts, repo.Grace(grace))
	}
	del, err := s.projects.Delete(ctx, s.db, id, opts...)
	if err == nil && del.Changed {
		s.settle(ctx, del.Row.UserID)
	}
	return del, err
}

// CancelDelete is repo's CancelDelete; the quota is settled.
func (s *Store) CancelDelete(ctx context.Context, id int64) (Project, error) {
	res, err := s.projects.CancelDelete(ctx, s.db, id)
	res, err = s.settled(ctx, res, err)
	return res.Row, err
}
