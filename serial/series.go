package serial

import "fmt"

const (
	maxName   = 255
	maxAmount = 1_000_000_000
	maxReason = 1<<16 - 1 // void_reason is a TEXT
)

// Series is a series of numbers. It is a name and holds nothing else; safe for concurrent use.
type Series struct {
	name  string
	first int64
}

// Option of [New].
type Option func(*Series)

// First is the first number of the series, 0 or more; by default 1. It is what the
// very first claim starts with; later it changes nothing.
func First(n int64) Option { return func(s *Series) { s.first = n } }

// New returns the series of this name, 1 to 255 bytes, compared byte by byte. The
// first claim makes it; nothing is sent here. The error is [ErrInvalidArgument].
func New(name string, opts ...Option) (*Series, error) {
	s := &Series{name: name, first: 1}
	for _, o := range opts {
		o(s)
	}
	if name == "" || len(name) > maxName {
		return nil, fmt.Errorf("%w: the name of a series has %d bytes, 1 to %d fit", ErrInvalidArgument, len(name), maxName)
	}
	if s.first < 0 {
		return nil, fmt.Errorf("%w: series %q cannot start at %d; start at 0 or later", ErrInvalidArgument, name, s.first)
	}
	return s, nil
}

// Name is the name of the series.
func (s *Series) Name() string { return s.name }

func (s *Series) checkKey(key string) error {
	if key == "" || len(key) > maxName {
		return fmt.Errorf("%w: a claim key of series %q has %d bytes, 1 to %d fit", ErrInvalidArgument, s.name, len(key), maxName)
	}
	return nil
}

// Claim is a range of numbers and who has it.
type Claim struct {
	// Series is the name of the series, Key the claim's key.
	Series, Key string
	// From and To are the first and the last number of the range.
	From, To int64
	// Voided says that the range is not used, VoidReason why.
	Voided     bool
	VoidReason string
}

// Amount is how many numbers the range has.
func (c Claim) Amount() int64 { return c.To - c.From + 1 }
