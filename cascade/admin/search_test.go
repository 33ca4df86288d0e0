package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestSearch finds jobs by all that somebody may know of them, open and ended ones.
func TestSearch(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	foresttest.Plant(t, db)
	dbtest.Exec(t, db, "ALTER TABLE onerow_job AUTO_INCREMENT = 600")
	dbtest.Exec(t, db, "ALTER TABLE onerow_deletion AUTO_INCREMENT = 900")
	ann := queue.WithActor(t.Context(), "Ann Ødegård", "why")
	enqueued := func(ctx context.Context, d queue.Deletion) queue.Job {
		t.Helper()
		var err error
		if d.ID, err = queue.Log(ctx, db, d); err != nil {
			t.Fatal(err)
		}
		job, err := queue.Enqueue(ctx, db, d)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	first := enqueued(ann, queue.Deletion{Resource: "project", ResourceID: "42", Owner: "7", From: "active", Grace: time.Hour})
	text := enqueued(t.Context(), queue.Deletion{Resource: "screen", ResourceID: "'so long", Owner: "'acme", From: "active", Grace: time.Hour})
	ended := enqueued(t.Context(), queue.Deletion{Resource: "screen", ResourceID: "42", Owner: "7", From: "active"})
	for i := range 40 { // no search takes the newest for what was searched
		enqueued(t.Context(), queue.Deletion{Resource: "filler", ResourceID: fmt.Sprint(i + 5000), Owner: "9", From: "active"})
	}
	dbtest.EndJob(t, db, ended.ID, "dead")
	if _, err := queue.PauseJob(queue.WithActor(t.Context(), "ben", "later"), db, text.ID, "later"); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string][]queue.Job{
		fmt.Sprint(first.ID): {first}, fmt.Sprint(first.DeletionID): {first}, fmt.Sprint(ended.ID): {ended},
		"project 42": {first}, " project   42 ": {first}, "screen so long": {text}, "screen 'so long": {text}, "screen 42": {ended},
		"42": {ended, first}, "so long": {text}, "project": {first}, "screen": {ended, text},
		"7": {ended, first}, "acme": {text}, "ann": {first}, "ødegård": {first}, "BEN": {text},
		"": nil, " ": nil, "%": nil, "nobody": nil, "'": nil, "\\": nil, "project 43": nil, "-1": nil, strings.Repeat("x", 3000): nil, "\xff": nil, "a\x00b": nil,
	} {
		found, err := Search(t.Context(), db, typed, 10)
		if err != nil {
			t.Fatalf("%q: %v", typed, err)
		}
		got, wanted := ids(found), ids(want)
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%q: found %v, want %v", typed, got, wanted)
		}
	}
	if found, err := Search(t.Context(), db, "filler", 5); err != nil || len(found) != 5 || found[0].ID < found[4].ID {
		t.Errorf("a limit of 5: %d, %v", len(found), err)
	}
	if found, err := Search(t.Context(), db, "filler", 0); err != nil || len(found) != 0 {
		t.Errorf("a limit of 0: %d, %v", len(found), err)
	}
}

func ids(jobs []queue.Job) (list []int64) {
	for _, job := range jobs {
		list = append(list, job.ID)
	}
	return list
}
