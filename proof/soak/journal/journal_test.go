package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/onerow/onerow/proof/soak/journal"
)

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.journal")
	w, err := journal.NewWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.NewWriter(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a journal was begun twice: %v", err)
	}
	for _, r := range []journal.Result{journal.OK, journal.Refused, journal.Failed, journal.Unknown, ""} {
		e, err := w.Begin(journal.Entry{Op: journal.Create, Key: string(r)})
		if err != nil {
			t.Fatal(err)
		}
		if e.Result = r; r == "" {
			continue // killed
		}
		if err := w.End(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Begin(journal.Entry{}); err == nil {
		t.Error("a closed journal was written")
	}
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString(`{"n":99,"op":"cre`); err != nil {
		t.Fatal(err)
	}
	if err := torn.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := journal.Read(dir)
	if err != nil || len(entries) != 5 {
		t.Fatalf("%v, %v", entries, err)
	}
	for i, e := range entries {
		never := e.Key == string(journal.Unknown) || e.Key == ""
		if never != (e.End == journal.Never) || never != (e.Result == journal.Unknown) || e.Key != "" && e.Result != journal.Result(e.Key) {
			t.Errorf("%+v", e)
		}
		if want := e.Result == journal.OK || never; e.Happened() != want {
			t.Errorf("%+v", e)
		}
		if i > 0 && e.Start < entries[i-1].Start {
			t.Errorf("out of order: %+v", e)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b.journal"), []byte("no line of ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if entries, err := journal.Read(dir); err == nil {
		t.Errorf("%v was read", entries)
	}
}
