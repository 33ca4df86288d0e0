package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Screen returns a screen, active or archived, or onerow.ErrNotFound; that also
// where its project is gone. Two statements.
func (s *Store) Screen(ctx context.Context, id int64) (Screen, error) {
	screen, err := s.screens.Get(ctx, s.db, id)
	if err != nil {
		return Screen{}, err
	}
	if _, err := s.Project(ctx, screen.ProjectID); err != nil {
		return Screen{}, err
	}
	return screen, nil
}

// FindScreen returns the project's active screen with this file name in any
// variation of extension and density, or onerow.ErrNotFound. Two statements.
func (s *Store) FindScreen(ctx context.Context, projectID int64, filename string) (Screen, error) {
	if _, err := s.Project(ctx, projectID); err != nil {
		return Screen{}, err
	}
	return s.screens.Find(ctx, s.db, projectID, filename)
}

// Screens returns a page of a project's screens. Two statements.
func (s *Store) Screens(ctx context.Context, projectID int64, state schema.State, cursor string, limit int) (repo.Page[Screen], error) {
	if _, err := s.Project(ctx, projectID); err != nil {
		return repo.Page[Screen]{}, err
	}
	return s.screens.List(ctx, s.db, projectID, page(state, cursor, limit))
}

// ArchiveScreen is repo's Archive.
func (s *Store) ArchiveScreen(ctx context.Context, id int64) (Screen, error) {
	res, err := s.screens.Archive(ctx, s.db, id)
	return res.Row, err
}

// ActivateScreen is repo's Activate, so the screen may have another name.
func (s *Store) ActivateScreen(ctx context.Context, id int64) (Screen, error) {
	res, err := s.screens.Activate(ctx, s.db, id)
	return res.Row, err
}

// MaxComment is the longest comment, in characters.
const MaxComment = 10_000

// AddComment writes a comment on an active screen. Errors: [ErrText],
// onerow.ErrNotFound, repo.ErrNotActive for an archived screen. Four statements
// and repo's Create.
func (s *Store) AddComment(ctx context.Context, screenID int64, body string) (Comment, error) {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if err := checkText(body); err != nil {
		return Comment{}, err
	}
	screen, err := s.Screen(ctx, screenID)
	if err != nil {
		return Comment{}, err
	}
	if screen.State == schema.Archived {
		return Comment{}, fmt.Errorf("store: comment on screen %d: %w", screenID, repo.ErrNotActive)
	}
	res, err := s.comments.Create(ctx, s.db, Comment{ScreenID: screenID, Body: body})
	if !errors.Is(err, repo.ErrParentNotFound) {
		return res.Row, err
	}
	// It went between the two looks: was it archived or deleted?
	if _, gone := s.Screen(ctx, screenID); gone != nil {
		return Comment{}, gone
	}
	return Comment{}, fmt.Errorf("store: comment on screen %d: %w: %w", screenID, repo.ErrNotActive, err)
}

func checkText(body string) error {
	switch n := utf8.RuneCountInString(body); {
	case !utf8.ValidString(body):
		return fmt.Errorf("%w: it is not valid UTF-8", ErrText)
	case body == "":
		return fmt.Errorf("%w: it is empty", ErrText)
	case n > MaxComment:
		return fmt.Errorf("%w: it has %d characters, at most %d are allowed", ErrText, n, MaxComment)
	}
	for _, r := range body {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return fmt.Errorf("%w: it contains the control character %U", ErrText, r)
		}
	}
	return nil
}

// Comments returns a page of a screen's comments, oldest first. One statement.
func (s *Store) Comments(ctx context.Context, screenID int64, cursor string, limit int) (repo.Page[Comment], error) {
	return s.comments.List(ctx, s.db, screenID, page("", cursor, limit))
}

// parentError says what it means that a screen could not be written below a
// project: gone, or archived.
func (s *Store) parentError(ctx context.Context, projectID int64, err error) error {
	if !errors.Is(err, repo.ErrParentNotFound) {
		return err
	}
	if _, gone := s.Project(ctx, projectID); gone != nil {
		return gone
	}
	return fmt.Errorf("%w: project %d: %w", ErrArchived, projectID, err)
}
