package keyadmin_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestListPages: each list in pages of any size, over tenants, operations and keys that begin with each other
// and have bytes below a separator.
func TestListPages(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	var all []idempotency.Key
	for _, tenant := range []string{"", "a", "a\x01", "aa"} {
		for _, operation := range []string{"o", "o ", "oo"} {
			for _, id := range []string{"1", "1\x00", "1,", "11", "\xff"} {
				all = append(all, idempotency.Key{Tenant: tenant, Operation: operation, ID: id})
			}
		}
	}
	for _, what := range []keyadmin.ListOptions{{Status: idempotency.InProgress}, {Status: idempotency.InProgress, Waiting: true}, {Status: idempotency.Failed, Waiting: true}, {Status: idempotency.Failed}} {
		dbtest.Exec(t, db, "DELETE FROM onerow_key")
		for i := range all {
			claim := begun(t, db, keys, all[len(all)-1-i], idempotency.Options{Expected: time.Hour})
			if what.Status == idempotency.Failed {
				if err := keys.Fail(ctx, db, claim, errors.New("x"), idempotency.Options{Attention: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, at := range []string{"'2001-01-01'", "NULL"} {
			if at == "NULL" && what.Status == idempotency.InProgress && what.Waiting {
				continue
			}
			dbtest.Exec(t, db, "UPDATE onerow_key SET expected_completion = "+at)
			entries := map[idempotency.Key]idempotency.Entry{}
			dbtest.Pages(t, all, func(after idempotency.Key, limit int) (page []idempotency.Key) {
				for _, e := range must(keyadmin.List(ctx, db, keyadmin.ListOptions{Status: what.Status, Waiting: what.Waiting, After: entries[after], Limit: limit})) {
					page, entries[e.Key] = append(page, e.Key), e
				}
				return page
			})
		}
	}
}

// TestPurgePages: keys that expire at one time are purged in portions of any size, each once.
func TestPurgePages(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for _, limit := range []int{1, 2, 6, 7, 8} {
		for i := range 7 {
			if err := keys.Complete(ctx, db, begun(t, db, keys, key(fmt.Sprint(i))), 1, idempotency.Options{Keep: time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.Exec(t, db, "UPDATE onerow_key SET expires_at = '2001-01-01' WHERE idem_key <> '3'")
		purged := 0
		for n := limit; n == limit; {
			n = must(keyadmin.Purge(ctx, db, keys, limit))
			purged += n
		}
		if left := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key WHERE idem_key = '3'"); purged != 6 || left != 1 || dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key") != 1 {
			t.Errorf("in portions of %d: %d purged", limit, purged)
		}
		dbtest.Exec(t, db, "DELETE FROM onerow_key")
	}
}
