package pool

import "github.com/onerow/onerow/internal/hosts"

// ErrNoHost means: none of the hosts of the data source name can be used now. Its text names each host that
// was tried, in that order, and why it cannot be used.
var ErrNoHost = hosts.ErrNoHost
