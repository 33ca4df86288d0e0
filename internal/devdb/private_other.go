//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package devdb

import (
	"context"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// private does not exist on this system: only ONEROW_DSN works.
type private struct{ addr string }

func startPrivate(context.Context, binary, Options) (*private, error) {
	return nil, fmt.Errorf("devdb: %w that could be started on this system: set %s to a running one", ErrNoServer, EnvDSN)
}

func (p *private) config() *mysql.Config { return mysql.NewConfig() }

func (p *private) stop() error { return nil }
