package cascade

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
)

// TestGivenBackSaysWhy: a worker that gives jobs back says so, and why.
func TestGivenBackSaysWhy(t *testing.T) {
	db := openForest(t)
	for i := range 3 { // none of which can be worked, so they do not end together
		if _, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "project", ResourceID: fmt.Sprint("nonsense", i)}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log bytes.Buffer
	w := quiet(t, worker(t, db, Config{Log: slog.New(slog.NewTextHandler(&log, nil)), OnEvent: func(e Event) {
		if e.Ended != "" {
			stop()
		}
	}}))
	if n, err := w.RunOnce(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if text := log.String(); !strings.Contains(text, `msg="cascade: given back"`) || !strings.Contains(text, `jobs=2 why="the worker stops"`) {
		t.Error(text)
	}
}
