package pool

import "github.com/onerow/onerow/internal/hosts"

// ErrNoHost means: none of the hosts of the data source name can be used now. The detail is a [NoHostError].
var ErrNoHost = hosts.ErrNoHost

// NoHostError is the detail of [ErrNoHost]: each host that was tried, in that order, and why it cannot be
// used.
type NoHostError = hosts.NoHostError
