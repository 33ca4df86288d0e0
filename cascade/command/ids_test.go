package command

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// idsPlan has a resource for each type of id, and tables that somebody else designed.
const idsPlan = `
resources:
  - {name: plain, archive: plain_archive}
  - {name: vast, archive: vast_archive, id_type: BIGINT UNSIGNED NOT NULL}
  - {name: book, archive: book_archive, owner: author, owner_type: BINARY(16) NOT NULL, id_type: BINARY(16) NOT NULL}
  - {name: shelf, archive: shelf_archive, id_type: VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL}
  - {name: chapter, parent: {resource: book, column: book_id}}
  - {name: board, parent: {resource: shelf, column: shelf_id}}
tables:
  - {name: doc, key: [id]}
  - {name: tag, key: [word]}
`

const dashed = "00000000-0000-7000-8000-000000000003"

// ids is a database with two rows of each type of id, for any number of rounds.
func ids(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.write(w.plan, idsPlan)
	w.ok("migrate", "up")
	w.createTables()
	w.exec("CREATE TABLE doc (id BINARY(16) PRIMARY KEY)")
	w.exec("CREATE TABLE tag (word VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY)")
	return w
}

// idCase is a row, how it is typed, and what is no id of its table.
type idCase struct {
	resource, typed, row, literal string
	absent                        string // an id that could be one
	wrong                         string // "": anything is an id
	says                          string // of what is wrong
}

var idCases = []idCase{
	{"plain", "3000000000", "plain 3000000000", "3000000000", "0", "seven", "an integer"},
	{"vast", "18446744073709551615", "vast 18446744073709551615", "18446744073709551615", "9223372036854775808", "-1", "unsigned"},
	{"book", dashed, "book 0x00000000000070008000000000000003", "x'00000000000070008000000000000003'", "0x00000000000070008000000000000009", "7", "bytes like 0x00ff"},
	{"book", "0x000000000000700080000000000000aF", "book 0x000000000000700080000000000000af", "x'000000000000700080000000000000af'", "ffffffff-0000-7000-8000-000000000009", "0x0003", "16 bytes"},
	{"shelf", "A-1", "shelf A-1", "'A-1'", "a-1", strings.Repeat("x", 31), "30 characters"},
	{"shelf", "7", "shelf 7", "'7'", "8", "", ""},
	{"doc", dashed, "doc 0x00000000000070008000000000000003", "x'00000000000070008000000000000003'", "0x00000000000070008000000000000009", "eight", "bytes like 0x00ff"},
	{"tag", "Äpfel", "tag Äpfel", "'Äpfel'", "7", "", ""},
}

func (w *world) insertID(c idCase) {
	w.t.Helper()
	switch c.resource {
	case "doc", "tag":
		w.exec(fmt.Sprintf("INSERT INTO %s VALUES (%s)", c.resource, c.literal))
	case "book":
		w.exec("INSERT INTO book (id, author, created_at, updated_at) VALUES (" + c.literal + ", x'000000000000700080000000000000aa', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
		w.exec("INSERT INTO chapter (book_id, created_at, updated_at) VALUES (" + c.literal + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	default:
		w.exec(fmt.Sprintf("INSERT INTO %s (id, created_at, updated_at) VALUES (%s, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", c.resource, c.literal))
	}
	if c.resource == "shelf" {
		w.exec("INSERT INTO board (shelf_id, created_at, updated_at) VALUES (" + c.literal + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	}
}

// TestIDsOfEveryType: each command that takes an id takes what the table's key is, and a job of it can be
// worked, taken back, cancelled and restored.
func TestIDsOfEveryType(t *testing.T) {
	w := ids(t)
	for _, c := range idCases {
		w.insertID(c)
		w.want(0, "\nto be deleted: ", "plan", c.resource, "--", c.typed)
		w.want(0, c.row+" would be queued (", "enqueue", c.resource, "--dry-run", "--must-exist", "--", c.typed)
		w.want(0, c.row+" is queued, due in", "enqueue", c.resource, "--grace", "1h", "--must-exist", "--", c.typed)
		deletion, job := fmt.Sprint(w.number("SELECT deletion_id FROM onerow_job")), fmt.Sprint(w.number("SELECT id FROM onerow_job"))
		w.want(0, c.row, "jobs", "--search", c.resource+" "+c.typed)
		w.want(0, c.row, "report", job)
		w.want(0, c.row, "pause", "--job", job)
		w.want(0, c.row, "resume", "--job", job)
		w.want(0, "is taken back", "undo", deletion)
		w.want(0, "is queued, due in", "enqueue", c.resource, "--grace", "1h", "--", c.typed)
		w.want(0, "is cancelled", "cancel", fmt.Sprint(w.number("SELECT id FROM onerow_job")))

		// enqueue says which ids are not there, and queues nothing with --must-exist.
		w.want(0, "is in no table", "plan", c.resource, "--", c.absent)
		w.want(0, "is not there", "enqueue", c.resource, "--dry-run", "--", c.absent)
		for _, more := range []string{"--dry-run", "--grace=1h"} {
			if o := w.want(1, "is not there", "enqueue", c.resource, "--must-exist", more, "--", c.absent); o.stdout != "" || !isOneLine(o.stderr) {
				t.Error(o)
			}
		}
		if c.wrong != "" {
			for _, command := range []string{"enqueue", "plan"} {
				if o := w.want(2, c.says, command, c.resource, "--", c.wrong); o.stdout != "" || !isOneLine(o.stderr) || !strings.Contains(o.stderr, "the key of "+c.resource) {
					t.Error(o)
				}
			}
		}
		if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
			t.Fatalf("%s %s: %d jobs are open: %s", c.resource, c.typed, n, w.ok("jobs"))
		}
		w.want(0, "is queued", "enqueue", c.resource, "--", c.absent)
		w.want(0, c.row+" is queued\n", "enqueue", c.resource, "--", c.typed)
		w.want(0, "2 jobs done", "drain")
		if n := w.number("SELECT COUNT(*) FROM " + c.resource); n != 0 {
			t.Errorf("%d rows of %s are left", n, c.resource)
		}
	}
	if n := w.number("SELECT (SELECT COUNT(*) FROM chapter) + (SELECT COUNT(*) FROM board)"); n != 0 {
		t.Errorf("%d rows are left below", n)
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_deletion WHERE resource = 'book' AND owner = '0x000000000000700080000000000000aa'"); n != 6 {
		t.Errorf("%d deletions of books know the owner, want 6", n)
	}
}

// TestIDsInAnotherSpelling: the job has the id that the row has, not what the collation takes for it.
func TestIDsInAnotherSpelling(t *testing.T) {
	w := ids(t)
	w.exec("INSERT INTO tag VALUES ('Äpfel')")
	w.want(0, "tag Äpfel is queued\n", "enqueue", "tag", "äPFEL", "--must-exist")
	w.want(0, "was open for tag Äpfel already", "enqueue", "tag", "Äpfel")
	w.want(0, "0 jobs queued, 1 open already\n", "enqueue", "tag", "--query", "SELECT 'äpfel'", "--must-exist")
	w.want(0, "1 job done", "drain")
	if n := w.number("SELECT COUNT(*) FROM tag"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	w.want(1, "tag gone is not there", "enqueue", "tag", "--query", "SELECT 'gone'", "--must-exist")
	w.want(1, "tag gone is not there", "enqueue", "tag", "--query", "SELECT 'gone'", "--must-exist", "--dry-run")
}

// TestMalformedJob: a job whose id no row of the table can have can be cancelled.
func TestMalformedJob(t *testing.T) {
	w := ids(t)
	w.exec(`INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (1, 'shelf', '7', 'operator', 0, UTC_TIMESTAMP(6))`)
	w.exec(`INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (5, 'shelf', '7', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	w.want(1, "1 failed", "drain")
	w.want(0, "job 5 (shelf 7) is cancelled", "cancel", "5")
}

// TestPageIDsOfEveryType: the same for the buttons of the page.
func TestPageIDsOfEveryType(t *testing.T) {
	w := ids(t)
	s := w.serve("", true)
	for _, c := range idCases {
		w.insertID(c)
		asked := func(key string) string {
			return "/delete?" + url.Values{"resource": {c.resource}, "key": {key}}.Encode()
		}
		s.says(s.get(asked(c.typed)), http.StatusOK, c.row)
		s.says(s.get(asked(c.absent)), http.StatusOK, "gone already")
		if c.wrong != "" {
			s.says(s.get(asked(c.wrong)), http.StatusOK, c.says)
			s.message(s.post("/enqueue", "resource", c.resource, "key", c.wrong), c.says)
		}
		if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
			t.Fatalf("%d jobs", n)
		}
		job := func() string { return fmt.Sprintf("/jobs/%d", w.number("SELECT MAX(id) FROM onerow_job")) }
		s.message(s.post("/enqueue", "resource", c.resource, "key", c.typed, "grace", "60"), c.row+" is queued")
		s.says(s.get(job()), http.StatusOK, c.row)
		s.says(s.get("/search?"+url.Values{"q": {c.resource + " " + c.typed}}.Encode()), http.StatusOK, c.row)
		s.message(s.post(job()+"/pause"), c.row+") is paused")
		s.message(s.post(job()+"/resume"), c.row+") is scheduled")
		s.says(s.get(job()+"/undo"), http.StatusOK, c.row)
		s.message(s.post(job()+"/undo"), "is taken back")
		s.message(s.post("/enqueue", "resource", c.resource, "key", c.typed), c.row+" is queued")
		s.message(s.post(job()+"/first"), c.row+") is the next one")
		s.says(s.get(job()+"/cancel"), http.StatusOK, c.row)
		s.message(s.post(job()+"/cancel"), c.row+") is cancelled")
		w.exec("DELETE FROM " + c.resource)
	}
}
