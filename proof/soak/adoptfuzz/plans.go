package adoptfuzz

import (
	"fmt"
	"math/rand/v2"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// version is one of the plans that processes of one round have.
type version int

// The versions. A base has what the table has; another one declares one more column; the last reads the names
// as names of files, so that most of its keys are others.
const (
	base version = iota
	column
	label
	versions = iota
)

func (v version) String() string { return [...]string{"base", "column", "label"}[v] }

func (v version) kind() names.Kind {
	if v == label {
		return names.KindFilename
	}
	return names.KindName
}

// shape is what somebody else has made of the table.
type shape struct {
	id, collation string
	length        int  // of a title
	times         bool // it has created_at and updated_at, as TIMESTAMPs
}

func drawShape(r *rand.Rand) shape {
	return shape{
		id:        []string{"INT UNSIGNED", "BIGINT", "INT"}[r.IntN(3)],
		collation: []string{"utf8mb4_swedish_ci", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci"}[r.IntN(4)],
		length:    []int{120, 200}[r.IntN(2)],
		times:     r.IntN(3) > 0,
	}
}

// plan is the version's.
func (s shape) plan(v version) schema.Plan {
	r := schema.Resource{
		Name: "ticket", Active: "tickets", Archive: "tickets_archive", IDType: s.id + " NOT NULL AUTO_INCREMENT",
		Owner: "desk_id", OwnerType: "INT UNSIGNED NOT NULL", Label: schema.Label{Column: "title", Kind: v.kind()},
		Columns: []schema.Column{
			{Name: "token", Type: "BIGINT NOT NULL"}, {Name: "state", Type: "ENUM('open','won''t fix','closed') NOT NULL"},
			{Name: "price", Type: "INT NOT NULL"}, {Name: "body", Type: "TEXT NULL"}, {Name: "closed_at", Type: "DATETIME NOT NULL"},
		},
	}
	if v == column {
		r.Columns = append(r.Columns, schema.Column{Name: "priority", Type: "INT NOT NULL DEFAULT 3"})
	}
	above := func(a schema.Action) []schema.Edge {
		return []schema.Edge{{Table: "ticket", Columns: []string{"ticket_id"}, OnDelete: a}}
	}
	return schema.Plan{Resources: []schema.Resource{r}, Tables: []schema.Table{
		{Name: "note", Key: []string{"id"}, Parents: above(schema.OnDeleteDelete)},
		{Name: "watch", Key: []string{"id"}, Parents: above(schema.OnDeleteDetach)},
	}}
}

// tables are what somebody else has made: foreign keys in and out, names that collide, times that move.
func (s shape) tables() []string {
	times := ""
	if s.times {
		times = `  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
`
	}
	return []string{
		"CREATE TABLE desk (id INT UNSIGNED PRIMARY KEY) ENGINE=InnoDB",
		fmt.Sprintf(`CREATE TABLE tickets (
  id %s NOT NULL AUTO_INCREMENT PRIMARY KEY,
  token BIGINT NOT NULL,
  desk_id INT UNSIGNED NOT NULL,
  title VARCHAR(%d) CHARACTER SET utf8mb4 COLLATE %s NOT NULL,
  state ENUM('open','won''t fix','closed') NOT NULL DEFAULT 'won''t fix',
  price INT NOT NULL DEFAULT 9,
  body TEXT CHARACTER SET utf8mb4 NULL,
  closed_at DATETIME NOT NULL DEFAULT '1999-12-31 23:59:59',
%s  KEY token (token),
  CONSTRAINT ticket_desk FOREIGN KEY (desk_id) REFERENCES desk (id)) ENGINE=InnoDB DEFAULT CHARSET=latin1`, s.id, s.length, s.collation, times),
		fmt.Sprintf(`CREATE TABLE note (id INT PRIMARY KEY AUTO_INCREMENT, token BIGINT NOT NULL, ticket_id %s NOT NULL,
  CONSTRAINT note_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE) ENGINE=InnoDB`, s.id),
		fmt.Sprintf(`CREATE TABLE watch (id INT PRIMARY KEY AUTO_INCREMENT, ticket_id %s NULL,
  CONSTRAINT watch_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON UPDATE CASCADE) ENGINE=InnoDB`, s.id),
		"INSERT INTO desk VALUES (1), (2), (3)",
	}
}

const desks = 3

// drawTitle draws a name: one of few, so that many are the same; as typed by people; for files; with copy
// numbers of their own; and now and then one that can have no key.
func drawTitle(r *rand.Rand) string {
	n := r.IntN(900)
	switch r.IntN(40) {
	case 0:
		return " "
	case 1:
		return "bell\x07"
	case 2, 3, 4:
		return fmt.Sprintf("Plan %d (Copy %d)", n, 1+r.IntN(4))
	case 5, 6, 7:
		return fmt.Sprintf("Scan %d@2x.PNG", n)
	case 8, 9, 10:
		return fmt.Sprintf("scan %d.jpg", n)
	case 11:
		return fmt.Sprintf("plan %d (copy 999999)", n)
	case 12, 13, 14:
		return fmt.Sprintf("PLAN   %d ", n)
	case 15, 16:
		return fmt.Sprintf("Äpfel №%d ☃", n)
	}
	return fmt.Sprintf("Plan %d", r.IntN(20_000))
}
