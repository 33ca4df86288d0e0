package shell

import (
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// OrZero is the value of a flag that may be left out, which is a pointer; zero where it was not given.
func OrZero[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}

// JobNumber is a job's number on the command line; 0 may be one.
type JobNumber int64

// Validate refuses what cannot be one.
func (n JobNumber) Validate() error {
	if n < 0 {
		return usage.Errorf("%d is no job's number, for <job> or --job: see %s jobs", n, output.ProgramName)
	}
	return nil
}

// Limit is how much is printed or done at most.
type Limit int

// Validate refuses what leaves nothing.
func (n Limit) Validate() error {
	if n < 1 {
		return usage.Errorf("--limit is %d; it should be 1 or more", n)
	}
	return nil
}

// Load is the share of the time that batches may take.
type Load float64

// Validate refuses what is no share, or next to none.
func (l Load) Validate() error {
	if !(l >= 0.01 && l <= 1) {
		return usage.Errorf("--load is %g; it should be a share from 0.01 to 1", l)
	}
	return nil
}
