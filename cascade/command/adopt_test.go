package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

const adoptPlan = `
resources:
  - name: ticket
    active: tickets
    archive: tickets_archive
    id_type: INT NOT NULL AUTO_INCREMENT
    owner: desk_id
    label: {column: title}
    columns: [{name: state, type: VARCHAR(10) NOT NULL}]
`

// brownfield is a world with a table of somebody else's.
func brownfield(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.write(w.plan, adoptPlan)
	w.ok("migrate", "up")
	w.exec("CREATE TABLE tickets (id INT PRIMARY KEY AUTO_INCREMENT, desk_id BIGINT NOT NULL, title VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL, state VARCHAR(10) NOT NULL DEFAULT 'open'," +
		" updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) ENGINE=InnoDB")
	w.exec("INSERT INTO tickets (desk_id, title) VALUES (1, 'Alpha'), (1, 'ALPHA'), (1, ' '), (2, 'alpha')")
	return w
}

// TestAdopt: the files are printed, or written and never over others; the backfill lists what a person has to
// see to; at the end verify is content.
func TestAdopt(t *testing.T) {
	t.Parallel()
	w := brownfield(t)
	out := w.ok("adopt", "ticket", "--number", "7")
	for _, part := range []string{"======== 00007_adopt_ticket_add_title_key.sql", "-- +goose Up", "-- +goose Down", "ALTER TABLE `tickets` ADD COLUMN `title_key` VARBINARY(1020) NULL", "CREATE TABLE `tickets_archive`"} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not print %q:\n%s", part, out)
		}
	}
	dir := t.TempDir()
	w.write(filepath.Join(dir, "00041_before.sql"), "-- +goose Up\nDO 0;\n")
	out = w.ok("adopt", "ticket", "--out", dir)
	if !strings.HasPrefix(out, "00042_adopt_ticket_add_title_key.sql\n") || !strings.Contains(out, "(before this one: cascade-worker adopt ticket --backfill)") {
		t.Errorf("it says %s", out)
	}
	if o := w.run("adopt", "ticket", "--out", dir); o.code != 2 || !strings.Contains(o.stderr, "00042_adopt_ticket_add_title_key.sql already") {
		t.Errorf("again: %s", o)
	}
	if o := w.run("adopt", "ticket", "--backfill"); o.code != 1 || !strings.Contains(o.stderr, "the file add_title_key was not run") {
		t.Errorf("the backfill before the files: %s", o)
	}
	p, err := migrations.New(w.db, os.DirFS(dir), "goose_db_version")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err == nil || !strings.Contains(err.Error(), "rows lack values: run cascade-worker adopt --backfill first") {
		t.Fatalf("the last file before the backfill: %v", err)
	}
	o := w.run("adopt", "ticket", "--backfill", "--load", "0.9", "--max-threads-running", "1000")
	for _, part := range []string{`tickets 2 of 1, "ALPHA": the name is taken by 1`, `tickets 3 of 1, " "`, "4 rows read, 6 writes, 0 renamed; 2 left"} {
		if o.code != 1 || !strings.Contains(o.stdout, part) {
			t.Errorf("it does not say %q: %s", part, o)
		}
	}
	w.exec("UPDATE tickets SET title = 'Blank' WHERE id = 3")
	if out = w.ok("adopt", "ticket", "--backfill", "--copies"); !strings.Contains(out, "1 renamed; each row has all that it needs") {
		t.Errorf("with copies: %s", out)
	}
	if title := dbtest.Scan[string](t, w.db, "SELECT title FROM tickets WHERE id = 2"); title != "ALPHA (Copy 1)" {
		t.Errorf("the copy is %q", title)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.ok("verify")
	if out = w.ok("adopt", "ticket"); !strings.HasPrefix(out, "nothing to do: tickets has all that the resource ticket needs") {
		t.Errorf("at the end: %s", out)
	}
}

// TestAdoptRefuses: what stands against it, with what to do, and no files.
func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	w := brownfield(t)
	w.exec("ALTER TABLE tickets ADD COLUMN mood VARCHAR(5) NULL")
	o := w.run("adopt", "ticket")
	if o.code != 1 || !strings.Contains(o.stdout, `- {name: mood, type: "varchar(5) NULL"}`) || strings.Contains(o.stdout, "goose") {
		t.Errorf("%s", o)
	}
}
