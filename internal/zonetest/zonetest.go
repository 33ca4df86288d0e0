// Package zonetest runs workflows in sessions of foreign time zones. The private server's sessions are at
// +00:00, where NOW() and UTC_TIMESTAMP() are the same, so no other test can tell one from the other.
//
// Open this package when a verb that writes a time is tested.
package zonetest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// slack is how many seconds two runs of a workflow may be apart. The zones are hours apart.
const slack = 600

// Each runs a test in sessions of each zone: of the server's own and of the foreign ones.
func Each(t *testing.T, test func(t *testing.T, zone dbtest.Option)) {
	for _, zone := range append([]string{"+00:00"}, dbtest.ForeignZones...) {
		t.Run(zone, func(t *testing.T) { test(t, dbtest.Zone(zone)) })
	}
}

// Clockwork gives the server a time zone by name, for it has none unless somebody has loaded them. Its clocks
// are put forward on 2026-03-29 and back on 2026-10-25, both at 01:00 UTC: one hour is not there, and two
// times in another one read alike.
func Clockwork(t testing.TB, db *sql.DB) (zone string) {
	t.Helper()
	const id = "60001"
	zone = "Onerow/Clockwork"
	for _, s := range []string{
		"INSERT IGNORE INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (" + id + ", 'N')",
		"INSERT IGNORE INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (" + id + ", 0, 7200, 1, 'S'), (" + id + ", 1, 3600, 0, 'W')",
		"INSERT IGNORE INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (" + id + ", -2000000000, 1), (" + id + ", 1774746000, 0), (" + id + ", 1792890000, 1)",
		"INSERT IGNORE INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('" + zone + "', " + id + ")",
	} {
		dbtest.Exec(t, db, s)
	}
	return zone
}

// Clocks runs workflows, one after the other, in sessions of each zone, and fails where a column of times
// says another time there than at +00:00. open makes a schema and workflows for it; each is set up and called
// once. Columns of dates that the workflow itself writes must be UTC.
func Clocks(t *testing.T, open func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow)) {
	t.Helper()
	want := map[string]map[string][]int64{}
	times := 0
	Each(t, func(t *testing.T, zone dbtest.Option) {
		db, workflows := open(t, zone)
		for i, w := range workflows {
			name := fmt.Sprintf("%d %s", i, w.Name)
			if err := once(t.Context(), db, w); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := ages(t.Context(), db)
			switch {
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			case want[name] == nil:
				want[name] = got
				times += len(got)
				continue
			}
			for _, column := range slices.Sorted(maps.Keys(want[name])) {
				if !slices.EqualFunc(want[name][column], got[column], near) {
					t.Errorf("%s: %s is %v seconds ago, and at +00:00 %v", name, column, got[column], want[name][column])
				}
			}
		}
	})
	if times == 0 {
		t.Error("no workflow wrote a time")
	}
}

func near(a, b int64) bool { return max(a, b)-min(a, b) < slack }

func once(ctx context.Context, db *sql.DB, w crashtest.Workflow) error {
	for _, table := range w.Empty {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+table); err != nil { //nolint:gosec // a table's name
			return err
		}
	}
	if w.Setup != nil {
		if err := w.Setup(ctx, db); err != nil {
			return err
		}
	}
	if err := w.Call(ctx, db); err != nil {
		return err
	}
	if w.Check != nil {
		return w.Check(ctx, db)
	}
	return nil
}

// ages is how many seconds ago each value of each column of times of the schema is, in order. The table of
// goose is its own: it writes the session's time, which nobody reads.
func ages(ctx context.Context, db *sql.DB) (map[string][]int64, error) {
	var columns [][2]string
	err := onerow.Query(ctx, db, `SELECT c.table_name, c.column_name FROM information_schema.columns AS c JOIN information_schema.tables AS t
 ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
 WHERE c.table_schema = DATABASE() AND c.data_type = 'datetime' AND c.table_name NOT LIKE '%goose%'`, nil, func(rows *sql.Rows) error {
		var c [2]string
		err := rows.Scan(&c[0], &c[1])
		columns = append(columns, c)
		return err
	})
	found := map[string][]int64{}
	for i := 0; err == nil && i < len(columns); i++ {
		table, column := columns[i][0], columns[i][1]
		query := fmt.Sprintf("SELECT TIMESTAMPDIFF(SECOND, `%s`, UTC_TIMESTAMP(6)) AS age FROM `%s` WHERE `%[1]s` IS NOT NULL ORDER BY age", column, table) //nolint:gosec // names of the catalog
		err = onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
			var age int64
			err := rows.Scan(&age)
			found[table+"."+column] = append(found[table+"."+column], age)
			return err
		})
	}
	return found, err
}
