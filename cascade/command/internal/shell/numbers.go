package shell

import (
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// JobNumber is a job's number on the command line. A flag that may be left out is a pointer to one, for 0 may
// be a job.
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

// OptionalLimit is a Limit where there is none by default; 0: none.
type OptionalLimit Limit

// Validate refuses what is below none.
func (n OptionalLimit) Validate() error {
	if n == 0 {
		return nil
	}
	return Limit(n).Validate()
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

// OptionalLoad is a Load that depends where none is given; 0: none is.
type OptionalLoad Load

// Validate refuses what is no share, or next to none.
func (l OptionalLoad) Validate() error {
	if l == 0 {
		return nil
	}
	return Load(l).Validate()
}
