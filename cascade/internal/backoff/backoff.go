// Package backoff is how a worker waits, and how it reads again what the database refused to let it read.
//
// Open this package when a pause of a worker is too short or too long.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
)

// Jitter is d, give or take a half, so that workers do not march in step.
func Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d) //nolint:gosec // jitter, not a secret
}

// Sleep waits for d or for the end of ctx.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Pauses between attempts of a job that failed: doubling with each failure.
const (
	First = time.Second
	Long  = 5 * time.Minute
)

// After is the pause after so many failures in a row.
func After(failures int) time.Duration {
	d := First
	for n := 1; n < failures && d < Long; n++ {
		d *= 2
	}
	return Jitter(min(d, Long))
}

// readTries and readPause are for a connection that was lost and a server that is
// there: the job need not wait for it.
const (
	readTries = 3
	readPause = 10 * time.Millisecond
)

// Read runs a statement outside of a transaction that may be run twice, again after a transient error.
func Read(ctx context.Context, stmt func() error) error {
	for try := 1; ; try++ {
		err := stmt()
		if err == nil || !fault.Transient(err) || try == readTries || ctx.Err() != nil {
			return err
		}
		Sleep(ctx, Jitter(readPause))
	}
}
