package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
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
