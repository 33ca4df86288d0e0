package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// before are the old columns, as text that does not depend on their types: times are microseconds.
var before = map[string]string{
	"tenants":     "id, HEX(name), max_bytes",
	"workspaces":  "HEX(id), tenant_id, HEX(name), color, " + micros("created_at") + ", " + micros("updated_at"),
	"tickets":     "HEX(id), tenant_id, HEX(workspace_id), number, HEX(subject), HEX(requester), status, priority, " + micros("created_at") + ", " + micros("updated_at"),
	"messages":    "id, HEX(ticket_id), HEX(author), HEX(body), " + micros("created_at"),
	"attachments": "HEX(id), tenant_id, HEX(ticket_id), HEX(name), bytes, HEX(file), " + micros("created_at"),
	"tags":        "id, tenant_id, HEX(label)",
	"ticket_tag":  "HEX(ticket_id), tag_id",
}

func micros(column string) string {
	return "CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + column + ") AS CHAR)"
}

// rowsOf are the rows of all tables, in a session at UTC: table and first column, digest.
func rowsOf(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for table, columns := range before {
		key, _, _ := strings.Cut(columns, ",")
		if table == "ticket_tag" {
			key = "CONCAT(HEX(ticket_id), '-', tag_id)"
		}
		rows, err := db.QueryContext(t.Context(), fmt.Sprintf("SELECT %s, SHA2(CONCAT_WS('|', %s), 256) FROM %s", key, columns, table))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, digest string
			if err := rows.Scan(&id, &digest); err != nil {
				t.Fatal(err)
			}
			all[table+" "+id] = digest
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// beside runs work while the old writer writes.
func beside(t *testing.T, w *OldWriter, work func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan error, 1)
	from := w.Writes.Load()
	go func() { done <- w.Run(t.Context(), stop) }()
	func() {
		defer close(stop)
		work()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d writes beside it", w.Writes.Load()-from)
	if w.Writes.Load() == from {
		t.Error("nobody wrote beside it")
	}
}

// columnDefaults are the DEFAULTs of the old columns.
func columnDefaults(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT CONCAT(table_name, '.', column_name), CONCAT(COALESCE(column_default, 'none'), ' ', COALESCE(collation_name, ''), ' ', column_comment) FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name IN ('tenants', 'workspaces', 'tickets', 'messages', 'attachments', 'tags', 'ticket_tag')`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for rows.Next() {
		var column, text string
		if err := rows.Scan(&column, &text); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(text), "timestamp") { // of the same moment, in UTC
			text = "now"
		}
		all[column] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// adopted is a database that has been adopted beside the old writer.
func adopted(t *testing.T, rows int) (db *sql.DB, w *OldWriter, was map[string]string) {
	t.Helper()
	dsn := dbtest.DSN(t, dbtest.Zone("+00:00"))
	db = dbtest.OpenDSN(t, dsn)
	if err := Seed(t.Context(), db, rows); err != nil {
		t.Fatal(err)
	}
	was = rowsOf(t, db)
	t.Logf("%d rows", len(was))
	w = NewOldWriter(dbtest.OpenDSN(t, strings.Replace(dsn, "%2B00%3A00", "%2B05%3A30", 1)), 1)
	beside(t, w, func() {
		if err := Expand(t.Context(), db, t.Logf); err != nil {
			t.Fatal(err)
		}
		if err := Backfill(t.Context(), db, t.Logf); err != nil {
			t.Fatal(err)
		}
	})
	w.DB = db
	w.Taught.Store(true) // here, and nowhere else
	if err := Backfill(t.Context(), db, t.Logf); err != nil {
		t.Fatal(err)
	}
	beside(t, w, func() {
		if err := Contract(t.Context(), db, t.Logf); err != nil {
			t.Fatal(err)
		}
	})
	return db, w, was
}

// TestAdopted: 100,000 rows of somebody else's become the plan's while the old application writes, which is
// taught once, between two sets of files. Nothing is lost, no time moved, no DEFAULT gone, and each write
// that was acknowledged is there.
func TestAdopted(t *testing.T) {
	rows := 100_000
	if testing.Short() {
		rows = 10_000
	}
	fresh := dbtest.Open(t)
	if err := Seed(t.Context(), fresh, 1); err != nil {
		t.Fatal(err)
	}
	db, w, was := adopted(t, rows)
	is := rowsOf(t, db)
	wrong := 0
	for key, digest := range was {
		table, id, _ := strings.Cut(key, " ")
		if table == "workspaces" {
			if parsed, err := uuid.Parse(id); err == nil && (w.Names[parsed] != "" || id == strings.Repeat("F", 32)) {
				continue // renamed by the writer; or by the backfill, as its name was taken
			}
		}
		if is[key] != digest {
			if wrong++; wrong < 5 {
				t.Errorf("%s is %q, was %q", key, is[key], digest)
			}
		}
	}
	defaults := columnDefaults(t, db)
	for column, text := range columnDefaults(t, fresh) {
		if defaults[column] != text {
			t.Errorf("%s is %q, was %q", column, defaults[column], text)
		}
	}
	acknowledged(t, db, w)
	t.Logf("%d writes of the old writer, %d wrong", w.Writes.Load(), wrong)
	use(t, db)
}

// acknowledged: each write of the old writer is there, and nothing is left of what it deleted.
func acknowledged(t *testing.T, db *sql.DB, w *OldWriter) {
	t.Helper()
	same := func(what, want, query string, id uuid.UUID) {
		t.Helper()
		var have string
		if err := db.QueryRowContext(t.Context(), query, id[:]).Scan(&have); err != nil || have != want {
			t.Errorf("%s of %s is %q, want %q: %v", what, id, have, want, err)
		}
	}
	for id, status := range w.Statuses {
		same("status", status, "SELECT status FROM tickets WHERE id = ?", id)
		same("messages", fmt.Sprint(w.Messages[id]), "SELECT COUNT(*) FROM messages WHERE ticket_id = ?", id)
		same("attachments", fmt.Sprint(w.Attachments[id]), "SELECT COUNT(*) FROM attachments WHERE ticket_id = ?", id)
	}
	for id, name := range w.Names {
		same("name", name, "SELECT name FROM workspaces WHERE id = ?", id)
	}
	for id := range w.Deleted {
		same("tickets", "0", "SELECT COUNT(*) FROM tickets WHERE id = ?", id)
		same("messages", "0", "SELECT COUNT(*) FROM messages WHERE ticket_id = ?", id)
	}
	if len(w.Statuses) == 0 || len(w.Names) == 0 || len(w.Deleted) == 0 {
		t.Error("the old writer has written too little")
	}
}
