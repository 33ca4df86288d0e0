package adopt_test

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// brownfield is what somebody else has made: an unsigned id, a name of another collation than its table's,
// which is too short and may be NULL, columns with defaults, comments and quotes in them, a time that moves
// by itself, the zero time, a generated column, foreign keys in and out, and an index that the server made
// for one of them.
var brownfield = []string{
	"CREATE TABLE desk (id INT UNSIGNED PRIMARY KEY, label VARCHAR(20) NOT NULL) ENGINE=InnoDB",
	"INSERT INTO desk VALUES (1, 'one'), (2, 'two'), (3, 'three')",
	"CREATE TABLE room (id INT PRIMARY KEY) ENGINE=InnoDB",
	"INSERT INTO room VALUES (1)",
	`CREATE TABLE tickets (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  desk_id INT UNSIGNED NOT NULL,
  room_id INT NULL,
  title VARCHAR(120) CHARACTER SET utf8mb4 COLLATE utf8mb4_swedish_ci NULL DEFAULT 'untitled' COMMENT 'it''s what \\ "people" see; NOT NULL',
  state ENUM('open','won''t fix','closed') CHARACTER SET latin1 COLLATE latin1_german2_ci NOT NULL DEFAULT 'open',
  price DECIMAL(10,2) UNSIGNED NOT NULL DEFAULT 9.99,
  body TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  seen_at TIMESTAMP NULL DEFAULT NULL,
  closed_at DATETIME NOT NULL DEFAULT '1999-12-31 23:59:59',
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT 'moves',
  loud VARCHAR(120) CHARACTER SET utf8mb4 AS (UPPER(title)) VIRTUAL,
  PRIMARY KEY (id),
  KEY owner_id (state, price),
  CONSTRAINT ticket_desk FOREIGN KEY (desk_id) REFERENCES desk (id),
  CONSTRAINT ticket_room FOREIGN KEY (room_id) REFERENCES room (id) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COMMENT='old'`,
	`CREATE TABLE note (id INT PRIMARY KEY AUTO_INCREMENT, ticket_id INT UNSIGNED NOT NULL, CONSTRAINT note_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE) ENGINE=InnoDB`,
	`CREATE TABLE watch (id INT PRIMARY KEY AUTO_INCREMENT, ticket_id INT UNSIGNED NULL, CONSTRAINT watch_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON UPDATE CASCADE) ENGINE=InnoDB`,
}

func plan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "ticket", Active: "tickets", Archive: "tickets_archive", IDType: "INT UNSIGNED NOT NULL AUTO_INCREMENT",
		Owner: "desk_id", OwnerType: "INT UNSIGNED NOT NULL", Label: schema.Label{Column: "title"}, Quota: schema.Quota{Flag: "is_over_quota"},
		Columns: []schema.Column{{Name: "room_id", Type: "INT NULL"}, {Name: "state", Type: "ENUM('open','closed') NOT NULL"}, {Name: "price", Type: "DECIMAL(10,2) NOT NULL"},
			{Name: "body", Type: "TEXT NULL"}, {Name: "seen_at", Type: "TIMESTAMP NULL"}, {Name: "closed_at", Type: "DATETIME NOT NULL"}, {Name: "priority", Type: "INT NOT NULL DEFAULT 3"}},
	}}, Tables: []schema.Table{{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{{Table: "ticket", Columns: []string{"ticket_id"}}}}}}
}

// old makes the brownfield with n tickets.
func old(t testing.TB, n int) (db *sql.DB, dsn string) {
	t.Helper()
	dsn = dbtest.DSN(t)
	db = dbtest.OpenDSN(t, dsn)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range brownfield {
		dbtest.Exec(t, db, stmt)
	}
	for from := 1; from <= n; from += 500 {
		var rows []string
		for i := from; i < min(from+500, n+1); i++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, 'Ticket  №%d', '2020-01-01 00:00:00' + INTERVAL %d SECOND, '2021-01-01 00:00:00' + INTERVAL %d SECOND, %d)", i, i%3+1, i, i, i, i))
		}
		dbtest.Exec(t, db, "INSERT INTO tickets (id, desk_id, title, created_at, updated_at, price) VALUES "+strings.Join(rows, ", "))
	}
	return db, dsn
}

func planned(t testing.TB, db *sql.DB, p schema.Plan) *adopt.Adoption {
	t.Helper()
	a, err := adopt.Prepare(t.Context(), db, p, "ticket")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// shown are the tables as SHOW CREATE TABLE has them, but for the next id and the order of indexes.
func shown(t testing.TB, db *sql.DB) string {
	t.Helper()
	var all []string
	names := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(table_name ORDER BY table_name) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name NOT LIKE 'onerow%' AND table_name NOT LIKE 'goose%'")
	for name := range strings.SplitSeq(names, ",") {
		var table, create string
		if err := db.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+name).Scan(&table, &create); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(counter.ReplaceAllString(create, ""), "\n")
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], ",")
		}
		slices.SortStableFunc(lines, func(a, b string) int {
			if n := rank(a); n == rank(b) && n > 2 {
				return strings.Compare(a, b)
			}
			return rank(a) - rank(b)
		})
		all = append(all, strings.Join(lines, "\n"))
	}
	return strings.Join(all, "\n\n")
}

// differ are the lines that only one of two has.
func differ(was, is string) string {
	if was == is {
		return ""
	}
	text := "in another order"
	for _, side := range [][3]string{{"-", was, is}, {"+", is, was}} {
		for line := range strings.SplitSeq(side[1], "\n") {
			if !slices.Contains(strings.Split(side[2], "\n"), line) {
				text += "\n" + side[0] + line
			}
		}
	}
	return text
}

func files(list iter.Seq2[string, string]) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, text := range list {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

// send runs statements in a session of their own.
func send(ctx context.Context, db *sql.DB, statements []string) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := conn.Close(); err == nil {
			err = cerr
		}
	}()
	for _, stmt := range statements {
		if _, err := conn.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", stmt, err)
		}
	}
	return nil
}
