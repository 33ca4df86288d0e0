package adopt_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema/adopt"
)

type adopted struct {
	ID     int64  `db:"id"`
	DeskID int64  `db:"desk_id"`
	Title  string `db:"title"`
}

// TestMoves: rows of an adopted table go to the archive and come back with every value of the application's.
func TestMoves(t *testing.T) {
	t.Parallel()
	db, _ := old(t, 3)
	dbtest.Exec(t, db, "UPDATE tickets SET state = 'won''t fix', body = 'Ünter ☃', seen_at = '2021-03-28 02:30:00', room_id = 1, price = 1.25 WHERE id = 2")
	p := plan()
	a := planned(t, db, p)
	m, err := migrations.New(db, files(adopt.Files(a, 1)), "goose_db_version")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Up(t.Context()); err == nil {
		t.Fatal("the files went through without a backfill")
	}
	filled(t, db, p)
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	const values = "SELECT GROUP_CONCAT(CONCAT_WS('|', id, desk_id, COALESCE(room_id, 'NULL'), title, HEX(title_key), state, price, COALESCE(body, 'NULL'), COALESCE(seen_at, 'NULL'), closed_at, created_at, priority) ORDER BY id SEPARATOR '; ') FROM "
	before := dbtest.Scan[string](t, db, values+"tickets")
	tickets, err := repo.New[adopted](p, "ticket")
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(3) {
		if _, err := tickets.Archive(t.Context(), db, id+1); err != nil {
			t.Fatal(err)
		}
	}
	if now := dbtest.Scan[string](t, db, values+"tickets_archive"); now != before || strings.Count(now, ";") != 2 {
		t.Errorf("in the archive\n%s\nand were\n%s", now, before)
	}
	for id := range int64(3) {
		if _, err := tickets.Activate(t.Context(), db, id+1); err != nil {
			t.Fatal(err)
		}
	}
	if now := dbtest.Scan[string](t, db, values+"tickets"); now != before {
		t.Errorf("back again\n%s\nand were\n%s", now, before)
	}
	made, err := tickets.Create(t.Context(), db, adopted{DeskID: 1, Title: "TICKET №9"})
	if err != nil || made.Row.ID < 4 {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := tickets.Create(t.Context(), db, adopted{DeskID: 1, Title: "ticket  №9"}); err == nil {
		t.Error("a name was given twice")
	}
}
