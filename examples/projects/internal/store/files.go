package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/onerow/onerow/cascade"
)

// Files is a folder, in which each file lies under its key. It is what a worker asks to delete the files of
// rows that go ([cascade.Assets]). For S3 and its kind take package blobassets instead; its stores are many
// packages to build, so that the demo does without.
type Files struct{ root *os.Root }

var _ cascade.Assets = (*Files)(nil)

// OpenFiles opens a folder, which it makes if need be. Close it when nobody uses it any more.
func OpenFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("store: make the folder for files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("store: open the folder for files: %w", err)
	}
	return &Files{root}, nil
}

// Close closes the folder.
func (f *Files) Close() error { return f.root.Close() }

// write makes a file of the body and returns its size. It writes beside the key and then renames, so what
// lies under a key is complete, on the disk too. A process that is killed leaves "key.….tmp", see partial.
func (f *Files) write(key string, body io.Reader) (size int64, err error) {
	temporary := key + "." + rand.Text() + ".tmp"
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(file, body)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(temporary, key)
	}
	if err != nil {
		return size, errors.Join(err, f.root.Remove(temporary))
	}
	return size, nil
}

// open opens the file of a key. The caller closes it. None: fs.ErrNotExist.
func (f *Files) open(key string) (*os.File, error) { return f.root.Open(key) }

// Delete deletes the files of these keys; one that is missing is a success. It tries all of them and returns
// the errors joined.
func (f *Files) Delete(ctx context.Context, keys []string) error {
	var errs []error
	for _, key := range keys {
		err := context.Cause(ctx)
		if err == nil {
			err = f.root.Remove(key)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("store: delete the file %s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// partial are the names of what was written of a key before a process was killed.
func (f *Files) partial(key string) ([]string, error) { return fs.Glob(f.root.FS(), key+".*.tmp") }
