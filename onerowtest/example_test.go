package onerowtest_test

import (
	"context"
	"fmt"

	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/repo"
)

// A program with a database of its own: for a godoc example, or a try.
func Example() {
	db, done := onerowtest.Example(plan)
	defer done()
	shows, err := repo.New[show](plan, "show")
	if err != nil {
		panic(err)
	}
	for range 2 { // a retry
		res, err := shows.Create(context.Background(), db, show{Organiser: 7, Title: "Hamlet"}, repo.RequestID("c0ffee"))
		fmt.Println(res.Row.Title, res.Replayed, err)
	}

	// Output:
	// Hamlet false <nil>
	// Hamlet true <nil>
}
