package hosts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// ErrNoHost means: none of the hosts of the data source name can be used now. The detail is a [NoHostError].
var ErrNoHost = errors.New("onerow: none of the hosts can be used")

// NoHostError is the detail of [ErrNoHost].
type NoHostError struct {
	// Hosts are those that were tried, in that order.
	Hosts []HostError
}

// HostError is why a host cannot be used.
type HostError struct {
	// Host is its address.
	Host string
	// Err is what it, or the network, answered.
	Err error
}

// Error names each host and why it cannot be used.
func (e *NoHostError) Error() string {
	var b strings.Builder
	b.WriteString(ErrNoHost.Error())
	for i, h := range e.Hosts {
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		fmt.Fprintf(&b, "%s: %v", h.Host, h.Err)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrNoHost) true. The transaction may run again if one of the hosts may change.
func (e *NoHostError) Is(target error) bool {
	if target == mysqlerr.ErrElsewhere {
		for _, h := range e.Hosts {
			if mysqlerr.MayRunAgain(h.Err) {
				return true
			}
		}
	}
	return target == ErrNoHost
}

// Unwrap returns the hosts' errors.
func (e *NoHostError) Unwrap() []error {
	errs := make([]error, len(e.Hosts))
	for i, h := range e.Hosts {
		errs[i] = h.Err
	}
	return errs
}

// unusable is why a host that may be used later is not used.
type unusable struct{ why string }

func (u unusable) Error() string        { return u.why }
func (u unusable) Is(target error) bool { return target == mysqlerr.ErrElsewhere }
