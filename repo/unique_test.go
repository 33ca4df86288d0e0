package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Account has unique indexes of the application's own: an e-mail address, whatever its
// case; a seat in an organisation; a name in an organisation.
type Account struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Email  []byte `db:"email"`
	Org    *int64 `db:"org"`
	Seat   int    `db:"seat"`
}

func accounts() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "account", Archive: "account_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{
			{Name: "email", Type: "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL"},
			{Name: "org", Type: "BIGINT NULL"}, {Name: "seat", Type: "INT NOT NULL"},
		},
		Indexes: []schema.Index{
			{Columns: []string{"email"}, Unique: true}, {Columns: []string{"org", "seat"}, Unique: true},
			{Columns: []string{"org", "name_key"}, Unique: true},
		},
	}}}
}

// accountRepo is a schema with accounts whose statements are counted.
func accountRepo(t *testing.T, ddl ...string) (*repo.Repo[Account], *sql.DB, *crashtest.Connector) {
	t.Helper()
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	for _, stmt := range slices.Concat(accounts().DDL(), ddl) {
		must(db.ExecContext(t.Context(), stmt))
	}
	pool, connector := racetest.Counted(t, dsn)
	return must(repo.New[Account](accounts(), "account")), pool, connector
}

// taken is a verb that meets a unique index, and what it says.
type taken struct {
	verb    string
	most    int // statements on a pool; a cancel holds the job as well
	index   string
	columns []string
	row     any // that was to be written; nil: a new one
	run     func(ctx context.Context, db onerow.DB) error
}

// TestTakenIndex: what another row has in a unique index of the application's own is
// told after one try, with the index, its columns and the holder, by every verb, on a
// pool and in a caller's transaction, and nothing is written.
func TestTakenIndex(t *testing.T) {
	r, db, c := accountRepo(t)
	ctx, org := t.Context(), int64(4)
	create := func(a Account) int64 { return must(r.Create(ctx, db, a)).Row.ID }
	archived := create(Account{UserID: 1, Name: "A", Email: []byte("a@x"), Seat: 1})
	must(r.Archive(ctx, db, archived))
	hidden := create(Account{UserID: 1, Name: "B", Email: []byte("a@x"), Seat: 1})
	del := must(r.Delete(ctx, db, hidden, repo.Grace(time.Hour)))
	holder := create(Account{UserID: 2, Name: "C", Email: []byte("A@X"), Org: &org, Seat: 1})
	other := create(Account{UserID: 1, Name: "D", Email: []byte("d@x"), Org: &org, Seat: 2})
	email, seat, name := []string{"email"}, []string{"org", "seat"}, []string{"org", "name_key"}

	for _, v := range []taken{
		{"create", 6, "email", email, nil, func(ctx context.Context, db onerow.DB) error {
			return second(r.Create(ctx, db, Account{UserID: 1, Name: "E", Email: []byte("a@X")}))
		}},
		{"create, another index", 6, "org_seat", seat, nil, func(ctx context.Context, db onerow.DB) error {
			return second(r.Create(ctx, db, Account{UserID: 1, Name: "E", Email: []byte("e@x"), Org: &org, Seat: 1}))
		}},
		{"create with a request id", 7, "email", email, nil, func(ctx context.Context, db onerow.DB) error {
			return second(r.Create(ctx, db, Account{UserID: 1, Name: "E", Email: []byte("a@X")}, repo.RequestID("r")))
		}},
		{"update", 7, "email", email, other, func(ctx context.Context, db onerow.DB) error {
			return second(r.Update(ctx, db, other, func(a *Account) error { a.Email = []byte("a@X"); return nil }))
		}},
		{"update, another index", 7, "org_seat", seat, other, func(ctx context.Context, db onerow.DB) error {
			return second(r.Update(ctx, db, other, func(a *Account) error { a.Seat = 1; return nil }))
		}},
		{"rename", 7, "org_name_key", name, other, func(ctx context.Context, db onerow.DB) error {
			return second(r.Rename(ctx, db, other, "c"))
		}},
		{"activate", 7, "email", email, archived, func(ctx context.Context, db onerow.DB) error {
			return second(r.Activate(ctx, db, archived))
		}},
		{"cancel", 14, "email", email, hidden, func(ctx context.Context, db onerow.DB) error {
			return second(r.CancelDelete(ctx, db, hidden))
		}},
		{"restore", 16, "email", email, hidden, func(ctx context.Context, db onerow.DB) error {
			return second(repo.Restore(ctx, db, accounts(), del.DeletionID))
		}},
	} {
		t.Run(v.verb, func(t *testing.T) {
			log, err := crashtest.Count(c, func() error { v.says(t, v.run(ctx, db), holder); return nil })
			if err != nil || len(log) > v.most {
				t.Errorf("%d statements, want at most %d: %v\n%s", len(log), v.most, err, log)
			}
			tx := must(db.BeginTx(ctx, nil))
			v.says(t, v.run(ctx, tx), holder)
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			if a, q, m := count(t, db, "SELECT COUNT(*) FROM account"), count(t, db, "SELECT COUNT(*) FROM onerow_request"),
				count(t, db, "SELECT COUNT(*) FROM onerow_job"); a != 2 || q != 0 || m != 1 {
				t.Errorf("%d accounts, %d requests and %d open jobs after refusals", a, q, m)
			}
		})
	}
	if next := create(Account{UserID: 1, Name: "F", Email: []byte("f@x")}); next > other+7 { // each refused INSERT takes a number
		t.Errorf("the id after %d is %d", other, next)
	}
}

func (v taken) says(t *testing.T, err error, holder int64) {
	t.Helper()
	var conflict *repo.ConflictError
	if !errors.Is(err, repo.ErrConflict) || !errors.As(err, &conflict) {
		t.Fatalf("answered %v", err)
	}
	if conflict.Index != v.index || !slices.Equal(conflict.Columns, v.columns) || conflict.HolderID != holder || conflict.ID != v.row || conflict.Err == nil {
		t.Errorf("row %v is refused by %s %q of row %d: %v; want row %v, %s %q of row %d",
			conflict.ID, conflict.Index, conflict.Columns, conflict.HolderID, err, v.row, v.index, v.columns, holder)
	}
}

// TestTakenAmongOthers: an index that is not unique refuses nobody, and another table's of the same name is
// not this one's.
func TestTakenAmongOthers(t *testing.T) {
	r, db, _ := accountRepo(t, "CREATE TABLE letter (at INT, email INT, UNIQUE KEY email (at, email))", "CREATE INDEX about ON account (seat)")
	ctx := t.Context()
	must(r.Create(ctx, db, Account{UserID: 1, Name: "A", Email: []byte("a"), Seat: 7}))
	holder := must(r.Create(ctx, db, Account{UserID: 1, Name: "B", Email: []byte("b"), Seat: 7})).Row.ID
	refused := second(r.Create(ctx, db, Account{UserID: 1, Name: "C", Email: []byte("B"), Seat: 7}))
	taken{index: "email", columns: []string{"email"}}.says(t, refused, holder)
}

// TestTakenInOrg: an index of the application's own on the name refuses one name, not
// the row: activating goes on to the next copy.
func TestTakenInOrg(t *testing.T) {
	r, db, _ := accountRepo(t)
	ctx, org := t.Context(), int64(4)
	id := must(r.Create(ctx, db, Account{UserID: 1, Name: "A", Email: []byte("a"), Org: &org, Seat: 1})).Row.ID
	must(r.Archive(ctx, db, id))
	for n, name := range []string{"A", "A (Copy 1)"} {
		must(r.Create(ctx, db, Account{UserID: 2, Name: name, Email: fmt.Append(nil, n), Org: &org, Seat: 2 + n}))
	}
	if res := must(r.Activate(ctx, db, id)); res.Row.Name != "A (Copy 2)" {
		t.Errorf("it came back as %q", res.Row.Name)
	}
}

// TestUnseenIndex: an index that cannot be asked (a prefix) refuses after a few tries.
func TestUnseenIndex(t *testing.T) {
	r, db, c := accountRepo(t, "CREATE UNIQUE INDEX domain ON account (email(3))")
	ctx := t.Context()
	id := must(r.Create(ctx, db, Account{UserID: 1, Name: "A", Email: []byte("abc@a"), Seat: 1})).Row.ID
	must(r.Archive(ctx, db, id))
	must(r.Create(ctx, db, Account{UserID: 1, Name: "B", Email: []byte("abc@b"), Seat: 1}))
	other := must(r.Create(ctx, db, Account{UserID: 1, Name: "D", Email: []byte("d"), Seat: 1})).Row.ID
	for verb, run := range map[string]func() error{
		"create":   func() error { return second(r.Create(ctx, db, Account{UserID: 1, Name: "C", Email: []byte("abc@c")})) },
		"activate": func() error { return second(r.Activate(ctx, db, id)) },
		"update": func() error {
			return second(r.Update(ctx, db, other, func(a *Account) error { a.Email = []byte("abc@d"); return nil }))
		},
	} {
		var conflict *repo.ConflictError
		log, err := crashtest.Count(c, func() error {
			if err := run(); !errors.As(err, &conflict) || conflict.Index != "" || conflict.HolderID != nil || conflict.Err == nil || conflict.Attempts != 3 {
				t.Errorf("%s: %v", verb, err)
			}
			return nil
		})
		if err != nil || len(log) > 21 {
			t.Errorf("%s: %d statements, %v\n%s", verb, len(log), err, log)
		}
	}
}

// TestTakenAndNamed: the name is taken and so is another value; a copy does not help.
func TestTakenAndNamed(t *testing.T) {
	r, db, c := accountRepo(t)
	ctx := t.Context()
	id := must(r.Create(ctx, db, Account{UserID: 1, Name: "A", Email: []byte("a"), Seat: 1})).Row.ID
	must(r.Archive(ctx, db, id))
	must(r.Create(ctx, db, Account{UserID: 1, Name: "A", Email: []byte("b")}))
	holder := must(r.Create(ctx, db, Account{UserID: 2, Name: "B", Email: []byte("A")})).Row.ID
	log, err := crashtest.Count(c, func() error {
		taken{index: "email", columns: []string{"email"}, row: id}.says(t, second(r.Activate(ctx, db, id)), holder)
		return nil
	})
	if err != nil || len(log) > 12 {
		t.Errorf("%d statements, %v\n%s", len(log), err, log)
	}
}
