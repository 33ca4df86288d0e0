package pool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/pool"
)

// TestLimitHidesNothing: a server that takes no writes is not used, although it answers with one row only, or
// refuses joins.
func TestLimitHidesNothing(t *testing.T) {
	t.Parallel()
	dsn := floortest.Private(t)
	admin := dbtest.OpenDSN(t, dsn)
	dbtest.Exec(t, admin, "SET GLOBAL read_only = 1")
	list := strings.Replace(dsn, ")/", ",127.0.0.1:1)/", 1)
	for _, set := range []string{"sql_select_limit = 1", "sql_select_limit = 0", "max_join_size = 1"} {
		dbtest.Exec(t, admin, "SET GLOBAL "+set)
		err := floortest.Opened(t, list).PingContext(t.Context())
		if !errors.Is(err, pool.ErrNoHost) || !strings.Contains(err.Error(), "read_only is ON") {
			t.Errorf("%s: %v", set, err)
		}
	}
}
