package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// uploadTime is how long an upload may take: less than its intent lives.
const uploadTime = 20 * time.Minute

// Upload is a file that is to become a screen.
type Upload struct {
	ProjectID int64
	Filename  string
	// Fail makes a name that is taken a repo.ErrNameTaken. Otherwise the file
	// becomes the next version of the screen that has the name.
	Fail bool
	Body io.Reader
}

// Upload stores a file and makes a screen of it, or a new version of the screen
// that has the name in any variation; created says which. Errors: the name errors of
// package schema, onerow.ErrNotFound for the project, [ErrArchived],
// repo.ErrNameTaken, [ErrUploadLost], [ErrUploadBroken] with what the body said,
// onerow.ErrOutcomeUnknown, after which it may be called again and then makes
// one version more.
func (s *Store) Upload(ctx context.Context, u Upload) (screen Screen, created bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	if err := s.admit(ctx, u); err != nil {
		return Screen{}, false, err
	}
	key, err := s.reserve(ctx, u.ProjectID)
	if err != nil {
		return Screen{}, false, err
	}
	file, err := s.write(key, u)
	if err == nil {
		screen, created, err = s.publish(ctx, u, file)
	}
	if err != nil {
		// If it was published after all there is no intent left to expire.
		if xerr := s.expire(ctx, key); xerr != nil {
			err = fmt.Errorf("%w (the file waits for its intent to be due: %w)", err, xerr)
		}
		return Screen{}, false, err
	}
	return screen, created, nil
}

// admit refuses what is refused anyhow before the body is read. It decides
// nothing: the index and the lock on the parent do.
func (s *Store) admit(ctx context.Context, u Upload) error {
	name, err := names.KindFilename.Parse(u.Filename)
	if err != nil {
		return err
	}
	project, err := s.Project(ctx, u.ProjectID)
	if err != nil {
		return err
	}
	if project.State == schema.Archived {
		return fmt.Errorf("%w: project %d", ErrArchived, u.ProjectID)
	}
	if !u.Fail {
		return nil
	}
	holder, err := s.screens.Find(ctx, s.db, u.ProjectID, u.Filename)
	if err == nil {
		return &repo.NameTakenError{Resource: ResourceScreen, Name: name.Display, ID: holder.ID}
	}
	if errors.Is(err, onerow.ErrNotFound) {
		return nil
	}
	return err
}

// newKey is a key that was never used: 130 random bits.
func newKey(projectID int64) string {
	return fmt.Sprintf("%d-%s", projectID, strings.ToLower(rand.Text()))
}

// stored is a file that was written.
type stored struct {
	key, contentType string
	size             int64
}

// write makes a file of the body under key. What is there is complete: a body that
// breaks off leaves nothing.
func (s *Store) write(key string, u Upload) (file stored, err error) {
	body := bufio.NewReaderSize(u.Body, sniffLen)
	head, err := body.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return file, fmt.Errorf("%w: %w", ErrUploadBroken, err)
	}
	file = stored{key: key, contentType: contentType(head, u.Filename)}
	src := &source{r: body}
	file.size, err = s.files.write(key, src)
	switch {
	case src.err != nil:
		return file, fmt.Errorf("%w after %d bytes: %w", ErrUploadBroken, file.size, err)
	case err != nil:
		return file, fmt.Errorf("store: write the file of an upload: %w", err)
	}
	return file, nil
}

// source remembers whether it was the reading that failed.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// publish makes the row and deletes the intent, in one commit. After a 1062 only
// the INSERT is undone and the transaction goes on: the row that has the name is
// held by the lock that the refused INSERT left on its index entry, the project by
// the share lock that the INSERT began with. So the new version lands below a
// project that is not being deleted.
func (s *Store) publish(ctx context.Context, u Upload, file stored) (screen Screen, created bool, err error) {
	err = onerow.InTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) error {
		row := Screen{ProjectID: u.ProjectID, Filename: u.Filename, BlobKey: file.key, ContentType: file.contentType, Size: file.size, Revision: 1}
		res, err := s.screens.Create(ctx, tx, row)
		created = true
		var taken *repo.NameTakenError
		if !u.Fail && errors.As(err, &taken) {
			created = false
			res, err = s.newVersion(ctx, tx, taken.ID.(int64), row)
		}
		if err != nil {
			return err
		}
		screen = res.Row
		return s.fulfil(ctx, tx, file.key)
	})
	return screen, created, s.parentError(ctx, u.ProjectID, err)
}

// newVersion gives the screen another file; the old one is left to the sweep.
func (s *Store) newVersion(ctx context.Context, tx *onerow.Tx, id int64, row Screen) (onerow.Result[Screen], error) {
	var old string
	res, err := s.screens.Update(ctx, tx, id, func(now *Screen) error {
		old = now.BlobKey
		now.Filename, now.BlobKey, now.ContentType, now.Size = row.Filename, row.BlobKey, row.ContentType, row.Size
		now.Revision++
		return nil
	})
	if err != nil {
		return res, err
	}
	return res, s.replaced(ctx, tx, old, row.ProjectID)
}

// File opens the file of a screen, or fs.ErrNotExist. The caller closes it.
func (s *Store) File(screen Screen) (*os.File, error) { return s.files.open(screen.BlobKey) }

const sniffLen = 512

// contentType is what the bytes say they are; the name only decides between texts.
func contentType(head []byte, filename string) string {
	sniffed := http.DetectContentType(head)
	if strings.EqualFold(path.Ext(filename), ".svg") && (strings.HasPrefix(sniffed, "text/xml") || strings.HasPrefix(sniffed, "text/plain")) {
		return "image/svg+xml"
	}
	return sniffed
}
