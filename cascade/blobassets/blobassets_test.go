package blobassets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gocloud.dev/blob/fileblob"
)

func TestDelete(t *testing.T) {
	dir := t.TempDir()
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bucket.Close(); err != nil {
			t.Error(err)
		}
	})
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("screens/%d – it's.png", i))
	}
	for _, name := range append(names, "other") {
		if err := bucket.WriteAll(t.Context(), name, []byte("bytes"), nil); err != nil {
			t.Fatal(err)
		}
	}
	a := New(bucket)
	for range 2 { // what is gone is deleted
		if err := a.Delete(t.Context(), names); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if there, err := bucket.Exists(t.Context(), name); there || err != nil {
			t.Fatalf("%s: %v, %v", name, there, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 { // "other" and the folder
		t.Errorf("left: %v, %v", left, err)
	}
	if there, err := bucket.Exists(t.Context(), "other"); !there || err != nil {
		t.Errorf("other: %v, %v", there, err)
	}
}

func TestDeleteTellsErrors(t *testing.T) {
	bucket, err := fileblob.OpenBucket(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := New(bucket)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Delete(ctx, []string{"a", "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if err := bucket.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), []string{"a"}); err == nil {
		t.Error("a closed bucket deleted a blob")
	}
}

// TestEveryErrorCounts: a later success does not cover an earlier error: the row of a file that stays must
// stay.
func TestEveryErrorCounts(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint(i))
	}
	err := each(names, func(name string) error {
		if len(name) == 1 && name != "0" {
			return errors.New("lost " + name)
		}
		return nil
	})
	if err == nil || strings.Count(err.Error(), "lost ") != 9 {
		t.Errorf("of 9 errors: %v", err)
	}

	bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.WriteAll(t.Context(), "folder/file", []byte("bytes"), nil); err != nil {
		t.Fatal(err)
	}
	if err := New(bucket).Delete(t.Context(), append([]string{"folder"}, names...)); err == nil { // what is not empty stays
		t.Error("a name that cannot be deleted was deleted")
	}
	if err := bucket.Close(); err != nil {
		t.Fatal(err)
	}
}
