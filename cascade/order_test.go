package cascade

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/rowkey"
)

// reads is how many entries the session has asked the storage engine for.
func reads(t testing.TB, db onerow.DB) (n int64) {
	t.Helper()
	err := onerow.Query(t.Context(), db, "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_rnd_next', 'Handler_read_rnd', 'Handler_read_first')", nil, func(rows *sql.Rows) error {
		var name string
		var value int64
		err := rows.Scan(&name, &value)
		n += value
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWalkByIndex: the chunks of a walk together return each child once, in whatever order
// the index has its columns, with NULLs, and over composite edges; each reads what it
// returns, whatever is before and behind it, and does not sort.
func TestWalkByIndex(t *testing.T) {
	db := dbtest.Open(t)
	plantOffice(t, db)
	dbtest.Exec(t, db, "ALTER TABLE remark ADD KEY whole (owner_type, owner_id, reply_to)")
	const numbers = "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 900) "
	dbtest.Exec(t, db, "INSERT INTO firm "+numbers+"SELECT 'nord', i, CONCAT('n', i) FROM s WHERE i <= 60")
	dbtest.Exec(t, db, "INSERT INTO staff (region, firm_no, id) "+numbers+"SELECT 'NORD', 1 + i % 45, i FROM s")
	dbtest.Exec(t, db, "UPDATE staff SET boss = 1 + id % 45 - 1 WHERE id > 100 AND id % 45 > 0") // in the same firm, by how these are spread
	dbtest.Exec(t, db, "INSERT INTO paper (id, num, firm_code, written) "+numbers+"SELECT UNHEX(LPAD(HEX(i), 8, '0')), i, CONCAT('N', 1 + i % 45), IF(i % 3, NULL, '2001-01-01' + INTERVAL i % 7 DAY) FROM s")
	dbtest.Exec(t, db, "INSERT INTO remark (id, owner_type, owner_id) "+numbers+"SELECT i, IF(i % 5, 'paper', 'firm'), 1 + i % 45 FROM s")
	dbtest.Exec(t, db, "UPDATE paper SET author_region = 'nord', author_firm = 1 + num % 45, author = 1 + num % 45 - 1 WHERE num % 45 > 0")
	dbtest.Exec(t, db, "ALTER TABLE remark ADD COLUMN note VARCHAR(40) NULL") // a table as people make them has something to say
	dbtest.Exec(t, db, "ALTER TABLE staff ADD COLUMN since DATE NULL")
	dbtest.Exec(t, db, "UPDATE remark SET reply_to = 1 + id % 10 WHERE id > 500")
	dbtest.Exec(t, db, "ANALYZE TABLE firm, staff, paper, remark")
	w, err := NewWorker(db, office, Config{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := w.current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, n := range g.Nodes {
		for _, e := range n.Edges {
			for _, s := range e.Sources {
				t.Run(fmt.Sprintf("%s over %s", s.Name, n.Name), func(t *testing.T) {
					parents := readAll(t, conn, n.Tables[0])
					keys := e.Keys(parents[:min(200, len(parents))])
					want := count(t, conn, "SELECT COUNT(*) FROM "+s.From+" WHERE "+s.When+s.Columns.In("", keys))
					seen := map[rowkey.Key]bool{}
					lists := [][]rowkey.Key{keys}
					if !s.Sorted {
						lists = slices.Collect(slices.Chunk(keys, 1))
					}
					for _, keys := range lists {
						for after, limit := rowkey.Place(nil), 17; ; {
							before := reads(t, conn)
							rows, next := readChunk(t, conn, s, keys, after, limit)
							if used := reads(t, conn) - before; used > int64(3*len(rows)+2*len(keys)+20) {
								t.Errorf("%d entries were read for %d rows:\n%.600s", used, len(rows), s.ReadSQL(keys, after, limit))
								return
							}
							for _, v := range rows {
								if seen[v.Key] {
									t.Fatalf("%s again", v.Key)
								}
								seen[v.Key] = true
							}
							if after = next; len(rows) < limit {
								break
							}
						}
					}
					if int64(len(seen)) != want || want < 20 {
						t.Errorf("%d rows, want %d", len(seen), want)
					}
				})
			}
		}
	}
}

func readAll(t testing.TB, db onerow.DB, table *graph.Table) (list []graph.Row) {
	t.Helper()
	scanner := table.Scanner(nil, 0)
	err := onerow.Query(t.Context(), db, "SELECT "+table.Columns(nil)+" FROM "+table.From, nil, func(rows *sql.Rows) error {
		v, _, err := scanner.Scan(rows)
		list = append(list, v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func readChunk(t testing.TB, db onerow.DB, s *graph.Source, keys []rowkey.Key, after rowkey.Place, limit int) (list []graph.Row, next rowkey.Place) {
	t.Helper()
	scanner := s.Reader()
	err := onerow.Query(t.Context(), db, s.ReadSQL(keys, after, limit), nil, func(rows *sql.Rows) error {
		v, place, err := scanner.Scan(rows)
		list, next = append(list, v), s.Place(place)
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.ReplaceAll(s.ReadSQL(keys, after, limit), " OR ", "\nOR "))
	}
	return list, next
}
