package live_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
)

// TestVerifyListIndex: a list's index is one that servers read in its order, in both tables; the statement of
// the difference makes it.
func TestVerifyListIndex(t *testing.T) {
	const long, due = "user_id_tenant_id_status_due_at_id", "tenant_id_user_id_due_at"
	db := livetest.Open(t, livetest.Tickets())
	for _, c := range []struct {
		name, broken, table, index string
	}{
		{"it is missing in the archive", "ALTER TABLE ticket_archive DROP INDEX " + long, "ticket_archive", long},
		{"it reads what deletions hide", "ALTER TABLE ticket_archive DROP INDEX " + long + ", ADD INDEX other (user_id, tenant_id, status, due_at, id)", "ticket_archive", long},
		{"it is switched in order", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_1 (user_id, tenant_id, due_at, status, id)", "ticket", long},
		{"it descends in part", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_2 (user_id, tenant_id, status, due_at DESC, id)", "ticket", long},
		{"it descends in part, the key does not", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_3 (tenant_id, user_id, due_at DESC)", "ticket", due},
		{"it has another column before the id", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_4 (tenant_id, user_id, due_at, version)", "ticket", due},
		{"", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_5 (user_id, tenant_id, status, due_at DESC, id DESC)", "", ""},
		{"", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_6 (tenant_id, user_id, due_at, id, version)", "", ""},
	} {
		dbtest.Exec(t, db, c.broken)
		found := livetest.Differences(t, db, livetest.Tickets())
		if c.name == "" {
			if found != nil {
				t.Errorf("%s: %v", c.broken, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Table != c.table || found[0].Index != c.index || found[0].SQL == "" {
			t.Fatalf("%s: %v", c.name, found)
		}
		dbtest.Exec(t, db, found[0].SQL)
		if found := livetest.Differences(t, db, livetest.Tickets()); found != nil {
			t.Fatalf("%s: then %v", c.name, found)
		}
	}
	dbtest.Exec(t, db, "ALTER TABLE ticket_archive MODIFY status VARCHAR(20) COLLATE utf8mb4_bin NOT NULL")
	found := livetest.Differences(t, db, livetest.Tickets())
	if len(found) != 1 || found[0].Column != "status" || !strings.Contains(found[0].Problem, "no one order") || found[0].SQL == "" {
		t.Fatalf("another collation: %v", found)
	}
	dbtest.Exec(t, db, found[0].SQL)
	if found := livetest.Differences(t, db, livetest.Tickets()); found != nil {
		t.Errorf("then %v", found)
	}
}
