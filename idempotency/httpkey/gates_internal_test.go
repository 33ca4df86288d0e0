package httpkey

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/onerow/onerow/idempotency"
)

// TestGates: one is in, who gives up leaves nothing behind, other keys are other gates, and in the end there
// are none.
func TestGates(t *testing.T) {
	g := gates{open: map[idempotency.Key]*gate{}}
	a := idempotency.Key{Operation: "x", ID: "a"}
	leave, err := g.enter(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the client has gone")
	cancel(reason)
	if _, err := g.enter(gone, a); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
	leaveOther, err := g.enter(gone, idempotency.Key{Operation: "x", ID: "b"}) // free: nothing is waited for
	if err != nil {
		t.Fatal(err)
	}
	leaveOther()
	in, all := 0, sync.WaitGroup{}
	for range 20 {
		all.Go(func() {
			leave, err := g.enter(t.Context(), a)
			if err != nil {
				t.Error(err)
				return
			}
			in++ // the race detector sees two at once
			leave()
		})
	}
	leave()
	all.Wait()
	if in != 20 || len(g.open) != 0 {
		t.Errorf("%d were in, %d gates are left", in, len(g.open))
	}
}
