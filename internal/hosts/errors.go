package hosts

import (
	"errors"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// ErrNoHost means: none of the hosts of the data source name can be used now. Its text says of each why not.
var ErrNoHost = errors.New("onerow: none of the hosts can be used")

// noHost is an [ErrNoHost]: why each host that was tried cannot be used, in that order. The transaction may
// run again if one of them may change.
type noHost struct{ why []error }

func (e *noHost) Error() string {
	return ErrNoHost.Error() + ": " + strings.ReplaceAll(errors.Join(e.why...).Error(), "\n", "; ")
}
func (e *noHost) Unwrap() []error { return e.why }
func (e *noHost) Is(target error) bool {
	return target == ErrNoHost || target == mysqlerr.ErrElsewhere && slices.ContainsFunc(e.why, mysqlerr.MayRunAgain)
}

// unusable is why a host that may be used later is not used.
type unusable struct{ why string }

func (u unusable) Error() string        { return u.why }
func (u unusable) Is(target error) bool { return target == mysqlerr.ErrElsewhere }
