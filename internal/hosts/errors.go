package hosts

import (
	"errors"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// ErrNoHost means: none of the hosts of the data source name can be used now. Its text says of each why not.
var ErrNoHost = errors.New("onerow: none of the hosts can be used")

// noHost is an [ErrNoHost]. The transaction may run again if one of the hosts may change.
type noHost struct {
	why  []string // of each that was tried, in that order
	errs []error
}

func (e *noHost) add(addr string, err error) {
	e.why, e.errs = append(e.why, addr+": "+err.Error()), append(e.errs, err)
}

func (e *noHost) Error() string   { return ErrNoHost.Error() + ": " + strings.Join(e.why, "; ") }
func (e *noHost) Unwrap() []error { return e.errs }
func (e *noHost) Is(target error) bool {
	return target == ErrNoHost || target == mysqlerr.ErrElsewhere && slices.ContainsFunc(e.errs, mysqlerr.MayRunAgain)
}

// unusable is why a host that may be used later is not used.
type unusable struct{ why string }

func (u unusable) Error() string        { return u.why }
func (u unusable) Is(target error) bool { return target == mysqlerr.ErrElsewhere }
