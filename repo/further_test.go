package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// library: a loan is a member's, and of a book; it may be in a folder, be about something, and follow
// another.
func library() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{Name: "member", Owner: "user_id"},
		{Name: "book", Archive: "book_archive", Owner: "user_id"},
		{
			Name: "loan", Archive: "loan_archive", Parent: schema.Parent{Resource: "member", Column: "member_id"},
			Columns: []schema.Column{
				{Name: "book_id", Type: "BIGINT NOT NULL"}, {Name: "follows", Type: "BIGINT NULL"}, {Name: "gift", Type: "BIGINT NULL"},
				{Name: "about", Type: "BIGINT NULL"}, {Name: "kind", Type: "VARCHAR(20) NULL"}, {Name: "unseen", Type: "BIGINT NULL"},
			},
			Parents: []schema.Edge{
				{Table: "book", Columns: []string{"book_id"}},
				{Table: "loan", Columns: []string{"follows"}, OnDelete: schema.OnDeleteDetach},
				{Table: "book", Columns: []string{"gift"}, OnDelete: schema.OnDeleteKeep},
				{Table: "book", Columns: []string{"about"}, When: map[string]string{"kind": "book"}},
				{Table: "book", Columns: []string{"unseen"}},
			},
		},
	}}
}

type Book struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

type Loan struct {
	ID       int64   `db:"id"`
	MemberID int64   `db:"member_id"`
	BookID   int64   `db:"book_id"`
	Follows  *int64  `db:"follows"`
	Gift     *int64  `db:"gift"`
	About    *int64  `db:"about"`
	Kind     *string `db:"kind"`
}

// openLibrary makes the tables, a member and a book.
func openLibrary(t *testing.T) (db *sql.DB, c *crashtest.Connector, books *repo.Repo[Book], loans *repo.Repo[Loan], member, book int64) {
	t.Helper()
	dsn, ctx := dbtest.DSN(t), t.Context()
	if err := migrations.Up(ctx, dbtest.OpenDSN(t, dsn)); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range library().DDL() {
		dbtest.Exec(t, dbtest.OpenDSN(t, dsn), stmt)
	}
	db, c = racetest.Counted(t, dsn)
	books, loans = must(repo.New[Book](library(), "book")), must(repo.New[Loan](library(), "loan"))
	member = must(must(repo.New[Book](library(), "member")).Create(ctx, db, Book{UserID: 1})).Row.ID
	return db, c, books, loans, member, must(books.Create(ctx, db, Book{UserID: 1})).Row.ID
}

// TestFurtherParents: a row is made below further rows that are there, active or archived, and below none
// that is gone or hidden; an update that changes the reference looks, too.
func TestFurtherParents(t *testing.T) {
	db, c, books, loans, member, book := openLibrary(t)
	ctx := t.Context()
	gone, kind, other := int64(99), "book", "shelf"
	for name, tt := range map[string]struct {
		loan  Loan
		count int // statements; 0 where it is refused
	}{
		"a book":                           {Loan{BookID: book}, 5},
		"no book":                          {Loan{BookID: gone}, 0},
		"no loan before it":                {Loan{BookID: book, Follows: &gone}, 0},
		"what the plan keeps":              {Loan{BookID: book, Gift: &gone}, 5},
		"about a book":                     {Loan{BookID: book, About: &book, Kind: &kind}, 6},
		"about no book":                    {Loan{BookID: book, About: &gone, Kind: &kind}, 0},
		"about something else":             {Loan{BookID: book, About: &gone, Kind: &other}, 5},
		"about something of no known kind": {Loan{BookID: book, About: &gone}, 5},
	} {
		tt.loan.MemberID = member
		log, err := crashtest.Count(c, func() error { return second(loans.Create(ctx, db, tt.loan)) })
		switch {
		case tt.count == 0 && !errors.Is(err, repo.ErrParentNotFound):
			t.Errorf("%s: %v", name, err)
		case tt.count > 0 && (err != nil || len(log) != tt.count):
			t.Errorf("%s: %d statements, want %d: %v\n%v", name, len(log), tt.count, err, log)
		}
	}
	id := must(loans.Create(ctx, db, Loan{MemberID: member, BookID: book, Follows: nil})).Row.ID
	next := must(loans.Create(ctx, db, Loan{MemberID: member, BookID: book, Follows: &id})).Row
	for name, tt := range map[string]struct {
		change func(*Loan)
		count  int
	}{
		"another column":    {func(l *Loan) { l.Gift = &gone }, 5},
		"to itself":         {func(l *Loan) { l.Follows = &next.ID }, 5},
		"to nothing":        {func(l *Loan) { l.Follows = nil }, 5},
		"to a gone book":    {func(l *Loan) { l.BookID = gone }, 0},
		"through a pointer": {func(l *Loan) { *l.Follows = gone }, 0},
		"to another loan":   {func(l *Loan) { l.Follows = &id }, 6},
	} {
		dbtest.Exec(t, db, "UPDATE loan SET follows = ?, gift = NULL WHERE id = ?", id, next.ID)
		if name == "to another loan" {
			dbtest.Exec(t, db, "UPDATE loan SET follows = NULL WHERE id = ?", next.ID)
		}
		log, err := crashtest.Count(c, func() error {
			return second(loans.Update(ctx, db, next.ID, func(l *Loan) error { tt.change(l); return nil }))
		})
		switch {
		case tt.count == 0 && !errors.Is(err, repo.ErrParentNotFound):
			t.Errorf("update %s: %v", name, err)
		case tt.count > 0 && (err != nil || len(log) != tt.count):
			t.Errorf("update %s: %d statements, want %d: %v\n%v", name, len(log), tt.count, err, log)
		}
	}

	must(books.Archive(ctx, db, book))
	must(loans.Create(ctx, db, Loan{MemberID: member, BookID: book}))
	must(books.Delete(ctx, db, book, repo.Grace(time.Hour)))
	if _, err := loans.Create(ctx, db, Loan{MemberID: member, BookID: book}); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("below a hidden book: %v", err)
	}
}

// TestFurtherParentIsLocked: until the transaction ends that makes a row, or gives it another reference,
// nobody can lock the further row above, as whoever deletes it does first.
func TestFurtherParentIsLocked(t *testing.T) {
	db, _, books, loans, member, book := openLibrary(t)
	ctx := t.Context()
	other := must(books.Create(ctx, db, Book{UserID: 1})).Row.ID
	loan := must(loans.Create(ctx, db, Loan{MemberID: member, BookID: book})).Row.ID
	for name, tt := range map[string]struct {
		book int64
		call func(ctx context.Context, tx *onerow.Tx) error
	}{
		"create": {book, func(ctx context.Context, tx *onerow.Tx) error {
			return second(loans.Create(ctx, tx, Loan{MemberID: member, BookID: book}))
		}},
		"update": {other, func(ctx context.Context, tx *onerow.Tx) error {
			return second(loans.Update(ctx, tx, loan, func(l *Loan) error { l.BookID = other; return nil }))
		}},
	} {
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := tt.call(ctx, tx); err != nil {
				return err
			}
			err := onerow.QueryRow(ctx, db, "SELECT id FROM book WHERE id = ? FOR UPDATE NOWAIT", []any{tt.book}, new(int64))
			var busy *mysql.MySQLError
			if !errors.As(err, &busy) || busy.Number != 1205 && busy.Number != 3572 {
				t.Errorf("%s: the book is not locked: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shelves: a book stands on a shelf; a loan is a member's, and of a book.
func shelves() schema.Plan {
	plan := library()
	plan.Resources[1].Owner, plan.Resources[1].Parent = "", schema.Parent{Resource: "shelf", Column: "shelf_id"}
	plan.Resources[2].Columns, plan.Resources[2].Parents = plan.Resources[2].Columns[:1], plan.Resources[2].Parents[:1]
	plan.Resources = append([]schema.Resource{{Name: "shelf", Owner: "user_id"}}, plan.Resources...)
	return plan
}

type Shelved struct {
	ID      int64 `db:"id"`
	ShelfID int64 `db:"shelf_id"`
}

type Lent struct {
	ID       int64 `db:"id"`
	MemberID int64 `db:"member_id"`
	BookID   int64 `db:"book_id"`
}

// TestInterleaveBelowADyingParent: a loan that is archived, activated, hidden, brought back or moved while its
// book goes, at which these verbs do not look, goes with the book: a worker takes a book only when one
// snapshot of both tables shows no loan of it, and a loan is in one of them in each.
func TestInterleaveBelowADyingParent(t *testing.T) {
	for _, level := range levels {
		dsn := dbtest.DSN(t, dbtest.Isolation(level))
		db := dbtest.OpenDSN(t, dsn)
		if err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, stmt := range shelves().DDL() {
			dbtest.Exec(t, db, stmt)
		}
		standing, books, loans := must(repo.New[Book](shelves(), "shelf")), must(repo.New[Shelved](shelves(), "book")), must(repo.New[Lent](shelves(), "loan"))
		work := func(ctx context.Context, db *sql.DB) error {
			w, err := cascade.NewWorker(db, shelves(), cascade.Config{})
			if err != nil {
				return err
			}
			return second(w.RunOnce(ctx))
		}
		type step = func(ctx context.Context, db *sql.DB) error
		wholeShelf := func(ctx context.Context, db *sql.DB) error { return second(standing.Delete(ctx, db, 1)) }
		oneBook := func(ctx context.Context, db *sql.DB) error { return second(books.Delete(ctx, db, 1)) }
		setup := func(verbs ...step) step {
			return func(ctx context.Context, db *sql.DB) error {
				const now = "1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)"
				for _, query := range []string{
					"INSERT INTO member (id, user_id, version, created_at, updated_at) VALUES (1, 1, " + now + "), (2, 1, " + now + ")",
					"INSERT INTO shelf (id, user_id, version, created_at, updated_at) VALUES (1, 1, " + now + ")",
					"INSERT INTO book (id, shelf_id, version, created_at, updated_at) VALUES (1, 1, " + now + ")",
					"INSERT INTO loan (id, member_id, book_id, version, created_at, updated_at) VALUES (1, 1, 1, " + now + ")",
				} {
					if _, err := db.ExecContext(ctx, query); err != nil {
						return err
					}
				}
				for _, verb := range verbs {
					if err := verb(ctx, db); err != nil {
						return err
					}
				}
				return nil
			}
		}
		verb := func(fn func(ctx context.Context, db onerow.DB, id int64) (onerow.Result[Lent], error)) step {
			return func(ctx context.Context, db *sql.DB) error { return second(fn(ctx, db, 1)) }
		}
		archive, activate, cancel := verb(loans.Archive), verb(loans.Activate), verb(loans.CancelDelete)
		hide := func(ctx context.Context, db *sql.DB) error {
			return second(loans.Delete(ctx, db, 1, repo.Grace(time.Hour)))
		}
		move := func(ctx context.Context, db *sql.DB) error {
			return second(loans.Move(ctx, db, 1, func(l *Lent) error { l.MemberID = 2; return nil }))
		}
		for name, race := range map[string]crashtest.Race{
			"archive":                    {Workflow: crashtest.Workflow{Setup: setup(wholeShelf)}, Calls: []step{work, archive}},
			"activate":                   {Workflow: crashtest.Workflow{Setup: setup(archive, wholeShelf)}, Calls: []step{work, activate}},
			"hide":                       {Workflow: crashtest.Workflow{Setup: setup(wholeShelf)}, Calls: []step{work, hide}},
			"cancel":                     {Workflow: crashtest.Workflow{Setup: setup(hide, wholeShelf)}, Calls: []step{work, cancel}},
			"move":                       {Workflow: crashtest.Workflow{Setup: setup(wholeShelf)}, Calls: []step{work, move}},
			"archive, the book is gone":  {Workflow: crashtest.Workflow{Setup: setup(oneBook)}, Calls: []step{work, archive}},
			"activate, the book is gone": {Workflow: crashtest.Workflow{Setup: setup(archive, oneBook)}, Calls: []step{work, activate}},
		} {
			t.Run(level.String()+", "+name, func(t *testing.T) {
				race.Name, race.DSN, race.Preemptions, race.Every = "repo: "+name+" below a dying further parent", dsn, 1, 60
				race.Empty = []string{"member", "shelf", "book", "book_archive", "loan", "loan_archive", "onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_plan", "onerow_plan", "onerow_worker"}
				race.Tables = []string{"member", "shelf", "book", "loan"}
				race.Judge = func(ctx context.Context, db *sql.DB, answers []error) error {
					for _, err := range answers {
						if err != nil && !errors.Is(err, onerow.ErrNotFound) && !errors.Is(err, repo.ErrTooLate) {
							return err
						}
					}
					w, err := cascade.NewWorker(db, shelves(), cascade.Config{})
					if err == nil {
						err = w.Drain(ctx)
					}
					var left int
					if err == nil {
						err = onerow.QueryRow(ctx, db, "SELECT (SELECT COUNT(*) FROM loan) + (SELECT COUNT(*) FROM loan_archive) + (SELECT COUNT(*) FROM book)", nil, &left)
					}
					if err == nil && left > 0 {
						err = fmt.Errorf("%d rows are left", left)
					}
					return err
				}
				report := crashtest.Interleave(t, race)
				t.Logf("%d interleavings", report.Schedules)
			})
		}
	}
}
