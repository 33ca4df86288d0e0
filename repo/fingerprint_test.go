package repo_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Gadget is a row as the first deploy knew it.
type Gadget struct {
	ID     int64           `db:"id"`
	UserID int64           `db:"user_id"`
	Name   string          `db:"name"`
	Note   string          `db:"note"`
	Color  string          `db:"color"`
	Count  int32           `db:"count"`
	Limit  *int64          `db:"max"`
	Done   bool            `db:"done"`
	Due    time.Time       `db:"due"`
	Ratio  float64         `db:"ratio"`
	Meta   json.RawMessage `db:"meta"`
}

// NewGadget is the same row after a refactoring: other order, other types of the same
// values, more columns.
type NewGadget struct {
	Meta   string              `db:"meta"`
	Weight sql.Null[float64]   `db:"weight"`
	Due    sql.Null[time.Time] `db:"due"`
	Color  []byte              `db:"color"`
	Ratio  float32             `db:"ratio"`
	Seen   *time.Time          `db:"seen"`
	Limit  sql.Null[uint16]    `db:"max"`
	Note   *string             `db:"note"`
	Count  uint64              `db:"count"`
	Done   int8                `db:"done"`
	Name   string              `db:"name"`
	UserID int                 `db:"user_id"`
	ID     int                 `db:"id"`
}

func gadgets() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "gadget", Owner: "user_id", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{
			{Name: "note", Type: "VARCHAR(80) NULL"}, {Name: "color", Type: "VARCHAR(80) NOT NULL DEFAULT ''"},
			{Name: "count", Type: "BIGINT NOT NULL DEFAULT 0"}, {Name: "max", Type: "BIGINT NULL"}, {Name: "done", Type: "TINYINT NOT NULL DEFAULT 0"},
			{Name: "due", Type: "DATETIME(6) NULL"}, {Name: "ratio", Type: "DOUBLE NOT NULL DEFAULT 0"}, {Name: "meta", Type: "JSON NULL"},
			{Name: "weight", Type: "DOUBLE NULL"}, {Name: "seen", Type: "DATETIME(6) NULL"},
		},
	}}}
}

func gadgetTables(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, stmt := range gadgets().DDL() {
		must(db.ExecContext(t.Context(), stmt))
	}
}

// TestReplayAfterDeploy: a retry that reaches a newer version of the application, with
// fields in another order, of other types, and new ones that it does not set, is a
// replay; any other value is another payload.
func TestReplayAfterDeploy(t *testing.T) {
	db, ctx := open(t), t.Context()
	gadgetTables(t, db)
	before, after := must(repo.New[Gadget](gadgets(), "gadget")), must(repo.New[NewGadget](gadgets(), "gadget"))
	due, limit, note := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600)), int64(0), "n"
	first := must(before.Create(ctx, db, Gadget{UserID: 1, Name: "A", Note: note, Color: "red", Count: 3, Limit: &limit, Done: true, Due: due, Ratio: 0.5,
		Meta: json.RawMessage(`{"a": 1}`)}, repo.RequestID("r"))).Row
	retry := func() NewGadget {
		return NewGadget{UserID: 1, Name: " A", Note: &note, Color: []byte("red"), Count: 3, Limit: sql.Null[uint16]{Valid: true}, Done: 1,
			Due: sql.Null[time.Time]{V: due.UTC(), Valid: true}, Ratio: 0.5, Meta: `{"a": 1}`}
	}
	res, err := after.Create(ctx, db, retry(), repo.RequestID("r"))
	if err != nil || !res.Replayed || int64(res.Row.ID) != first.ID {
		t.Errorf("the retry of the new version: %+v, %v", res, err)
	}
	if back, err := after.Create(ctx, db, retry(), repo.RequestID("s")); !errors.Is(err, repo.ErrNameTaken) {
		t.Errorf("another request of the same name: %+v, %v", back, err)
	}
	empty, weight := "", sql.Null[float64]{Valid: true}
	for what, change := range map[string]func(*NewGadget){
		"a value":                   func(g *NewGadget) { g.Count = 4 },
		"a value that became zero":  func(g *NewGadget) { g.Count = 0 },
		"a limit of 0 that is gone": func(g *NewGadget) { g.Limit = sql.Null[uint16]{} },
		"a new column":              func(g *NewGadget) { g.Seen = &due },
		"a new valid 0":             func(g *NewGadget) { g.Weight = weight },
		"a time":                    func(g *NewGadget) { g.Due.V = g.Due.V.Add(time.Microsecond) },
		"two columns exchanged":     func(g *NewGadget) { red := "red"; g.Note, g.Color = &red, []byte("n") },
		"a pointer to empty text":   func(g *NewGadget) { g.Note = &empty },
		"the name":                  func(g *NewGadget) { g.Name = "a" },
	} {
		g := retry()
		change(&g)
		if res, err := after.Create(ctx, db, g, repo.RequestID("r")); !errors.Is(err, repo.ErrRequestMismatch) {
			t.Errorf("%s: %+v, %v", what, res, err)
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_request WHERE fingerprint LIKE CONCAT(CHAR(2), '%')"); n != 1 {
		t.Error("the form of the fingerprint is not stored with it")
	}
}

// TestFormOfFingerprints: what is recorded is the same for each version of this library, and of Go: the bytes
// are those of the first version with form 2.
func TestFormOfFingerprints(t *testing.T) {
	type Thing struct {
		ID     int64           `db:"id"`
		UserID int64           `db:"user_id"`
		Name   string          `db:"name"`
		Raw    []byte          `db:"raw"`
		Meta   json.RawMessage `db:"meta"`
		Done   bool            `db:"done"`
		Due    time.Time       `db:"due"`
		Note   *string         `db:"note"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "thing", Owner: "user_id", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{
			{Name: "raw", Type: "VARBINARY(16) NULL"}, {Name: "meta", Type: "JSON NULL"}, {Name: "done", Type: "TINYINT NOT NULL DEFAULT 0"},
			{Name: "due", Type: "DATETIME(6) NULL"}, {Name: "note", Type: "VARCHAR(80) NULL"},
		},
	}}}
	db, ctx := open(t), t.Context()
	for _, stmt := range plan.DDL() {
		must(db.ExecContext(ctx, stmt))
	}
	things := must(repo.New[Thing](plan, "thing"))
	must(things.Create(ctx, db, Thing{UserID: 1, Name: "\U0001FAE9 \"a\"", Raw: []byte("\U0001FAE9\xff\x00"), Meta: json.RawMessage(`{"a": 1}`), Done: true,
		Due: time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)}, repo.RequestID("r")))
	const want = "02e6e18290a6f43e70f943b24390515e587569b41424b548060b5d7afcfeb973"
	if print := dbtest.Scan[string](t, db, "SELECT LOWER(HEX(fingerprint)) FROM onerow_request"); print != want {
		t.Errorf("a retry of an older version's request is another payload: %s, want %s", print, want)
	}
}
