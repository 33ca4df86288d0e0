package store

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
)

func (f fixture) put(t *testing.T, project int64, name, body string) Screen {
	t.Helper()
	s, _, err := f.Upload(t.Context(), Upload{ProjectID: project, Filename: name, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sweep makes all intents due, sweeps, and holds rows and files against each other.
func (f fixture) sweep(t *testing.T) {
	t.Helper()
	f.exec(t, `UPDATE blob_intent SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND`)
	if _, err := f.SweepOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := f.count(t, `SELECT COUNT(*) FROM blob_intent`); n != 0 {
		t.Errorf("%d intents are left", n)
	}
	f.same(t)
}

func (f fixture) same(t *testing.T) {
	t.Helper()
	if keys, files := f.keys(t), f.files(t); !maps.Equal(keys, files) {
		t.Errorf("rows have the files %v, there are %v", keys, files)
	}
}

func TestUploadVersions(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	first := f.put(t, p.ID, "home.png", "one")
	again := f.put(t, p.ID, "Home@2x.JPG", "second")
	if again.ID != first.ID || again.Revision != 2 || again.Size != 6 || again.Filename != "Home@2x.JPG" || again.BlobKey == first.BlobKey {
		t.Errorf("%+v after %+v", again, first)
	}
	if !f.files(t)[first.BlobKey] {
		t.Error("the old file went before its intent was swept")
	}
	f.sweep(t)
	_, _, err := f.Upload(t.Context(), Upload{ProjectID: p.ID, Filename: "home.gif", Body: strings.NewReader("x"), Fail: true})
	var taken *repo.NameTakenError
	if !errors.As(err, &taken) || taken.ID != first.ID {
		t.Error(err)
	}
	f.sweep(t)
	reader, err := f.File(again)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err := errors.Join(err, reader.Close()); err != nil || string(text) != "second" {
		t.Errorf("%q, %v", text, err)
	}
}

// A crash after each step of an upload: the process is simply not there any more.
func TestUploadCrashPoints(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	ctx := t.Context()
	old := f.put(t, p.ID, "taken.png", "old")
	for _, name := range []string{"new.png", "taken.jpg"} {
		u := func() Upload { return Upload{ProjectID: p.ID, Filename: name, Body: strings.NewReader("body")} }

		if _, err := f.reserve(ctx, p.ID); err != nil { // (1)
			t.Fatal(err)
		}
		f.sweep(t)

		key, err := f.reserve(ctx, p.ID) // (1), and half of (2): what a folder as bucket leaves
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, key+".17a.tmp"), []byte("bo"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.sweep(t)

		if key, err = f.reserve(ctx, p.ID); err != nil { // (1) (2)
			t.Fatal(err)
		}
		if _, err = f.write(key, u()); err != nil {
			t.Fatal(err)
		}
		if !f.files(t)[key] {
			t.Fatal("the file was not written")
		}
		f.sweep(t)

		if key, err = f.reserve(ctx, p.ID); err != nil { // (1) (2), then the sweep is faster than (3)
			t.Fatal(err)
		}
		file, err := f.write(key, u())
		if err != nil {
			t.Fatal(err)
		}
		f.sweep(t)
		if _, _, err := f.publish(ctx, u(), file); !errors.Is(err, ErrUploadLost) {
			t.Errorf("published after the sweep: %v", err)
		}
		f.sweep(t)

		if key, err = f.reserve(ctx, p.ID); err != nil { // the sweep stops between claim and file
			t.Fatal(err)
		}
		if file, err = f.write(key, u()); err != nil {
			t.Fatal(err)
		}
		f.exec(t, claimDue, key)
		if _, _, err := f.publish(ctx, u(), file); !errors.Is(err, ErrUploadLost) {
			t.Errorf("published while it is swept: %v", err)
		}
		f.sweep(t)

		if now, err := f.Screen(ctx, old.ID); err != nil || now.BlobKey != old.BlobKey || now.Revision != 1 {
			t.Errorf("a lost upload changed the row: %+v, %v", now, err)
		}

		if key, err = f.reserve(ctx, p.ID); err != nil { // (1) (2) (3)
			t.Fatal(err)
		}
		if file, err = f.write(key, u()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.publish(ctx, u(), file); err != nil {
			t.Fatal(err)
		}
		f.sweep(t)
	}
	if n := len(f.files(t)); n != 2 {
		t.Errorf("%d files", n)
	}
}

type brokenBody struct{ n int }

var errBody = errors.New("the client went away")

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.n == 0 {
		return 0, errBody
	}
	n := min(b.n, len(p))
	b.n -= n
	return n, nil
}

func TestUploadThatBreaksOff(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	for _, n := range []int{0, 100, 1 << 20} {
		_, _, err := f.Upload(t.Context(), Upload{ProjectID: p.ID, Filename: "home.png", Body: &brokenBody{n}})
		if !errors.Is(err, ErrUploadBroken) || !errors.Is(err, errBody) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if files := f.files(t); len(files) != 0 {
			t.Errorf("after %d bytes: left %v", n, files)
		}
	}
	f.sweep(t)
}

func TestUploadWhere(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	if _, err := f.ArchiveProject(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	u := Upload{ProjectID: p.ID, Filename: "home.png", Body: strings.NewReader("x")}
	if _, _, err := f.Upload(t.Context(), u); !errors.Is(err, ErrArchived) {
		t.Error(err)
	}
	// The project is archived, or deleted, while the file is on its way.
	file, err := f.write("k1", u)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.publish(t.Context(), u, file); !errors.Is(err, ErrArchived) {
		t.Error(err)
	}
	if _, err := f.DeleteProject(t.Context(), p.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.publish(t.Context(), u, file); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := f.Upload(t.Context(), u); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
}

// Uploads of one screen at once: one row, as many versions as uploads, one file.
func TestParallelVersions(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	const n = 24
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			name := []string{"home.png", "HOME@2x.jpg", "Home.gif"}[i%3]
			if _, _, err := f.Upload(t.Context(), Upload{ProjectID: p.ID, Filename: name, Body: strings.NewReader("x")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := f.FindScreen(t.Context(), p.ID, "home")
	if err != nil || s.Revision != n {
		t.Errorf("revision %d, %v", s.Revision, err)
	}
	f.sweep(t)
	if files := f.files(t); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
}

// breaking is a body whose client goes away after a while, with which the request's context ends.
type breaking struct {
	left   int
	cancel func()
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.cancel()
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

// TestUploadBrokenOff: the intent of an upload whose client has gone is given up at once, though the
// request's context has ended; the sweep need not wait until it is due.
func TestUploadBrokenOff(t *testing.T) {
	f := open(t)
	p := f.newProject(t)
	for _, size := range []int{0, 10, 100_000} {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := f.Upload(ctx, Upload{ProjectID: p.ID, Filename: "home.png", Body: &breaking{size, cancel}})
		if !errors.Is(err, ErrUploadBroken) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if n := f.count(t, "SELECT COUNT(*) FROM blob_intent WHERE state <> 'expired' OR due_at > UTC_TIMESTAMP(6)"); n != 0 {
			t.Errorf("%d bytes: %d intents are not given up", size, n)
		}
		if n, err := f.SweepOnce(t.Context()); n != 1 || err != nil {
			t.Errorf("%d bytes: swept %d, %v", size, n, err)
		}
	}
	f.same(t)
}
