package repo_test

import (
	"context"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestListStable: rows that stay are in the pages once, while rows before and behind come and go, with the
// same values too, and while they themselves move between the tables.
func TestListStable(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db, ctx := open(t), t.Context()
	fillTasks(t, db, tasks, 0)
	add := func(rank int32) int64 {
		return must(tasks.Create(ctx, db, Task{UserID: 1, Status: "open", Mood: "good", Hash: []byte{}, Rank: &rank})).Row.ID
	}
	for _, descending := range []bool{false, true} {
		dbtest.Exec(t, db, "DELETE FROM task")
		dbtest.Exec(t, db, "DELETE FROM task_archive")
		var stay, go_ []int64
		for i := range 30 {
			stay = append(stay, add(int32(i%3)))
			go_ = append(go_, add(int32(i%3)))
		}
		o := repo.PageOptions{State: repo.AnyState, Sort: repo.Sort{Column: "rank_no", Descending: descending}, Limit: 4}
		seen := map[int64]int{}
		for i := 0; ; i++ {
			page := must(tasks.List(ctx, db, 1, o))
			for _, row := range page.Items {
				seen[row.ID]++
			}
			if page.Next == "" {
				break
			}
			o.After = page.Next
			add(int32(i % 3))
			if i < len(go_) {
				must(tasks.Delete(ctx, db, go_[i]))
			}
			move := stay[(7*i)%len(stay)]
			if must(tasks.Get(ctx, db, move)).State == schema.Active {
				must(tasks.Archive(ctx, db, move))
			} else {
				must(tasks.Activate(ctx, db, move))
			}
		}
		for _, id := range stay {
			if seen[id] != 1 {
				t.Errorf("descending %v: %d came %d times", descending, id, seen[id])
			}
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("descending %v: %d came %d times", descending, id, n)
			}
		}
	}
}

// TestListOneMoment: a row that moves while a page of both states is read is in it once.
func TestListOneMoment(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db, ctx := open(t), t.Context()
	fillTasks(t, db, tasks, 0)
	var want []int64
	for range 20 {
		want = append(want, must(tasks.Create(ctx, db, Task{UserID: 1, Status: "open", Mood: "good", Hash: []byte{}})).Row.ID)
	}
	moving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for n := 0; moving.Err() == nil; n++ {
			id := want[n%len(want)]
			_, err := tasks.Archive(ctx, db, id)
			if n/len(want)%2 == 1 {
				_, err = tasks.Activate(ctx, db, id)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 300 {
		for _, sort := range []string{"id", "big"} {
			if got := list(t, db, tasks, repo.PageOptions{State: repo.AnyState, Sort: repo.Sort{Column: sort}, Limit: 50}); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
