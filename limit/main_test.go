package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// plan has files that count by their number and their bytes, and what is below a project.
var plan = schema.Plan{Resources: []schema.Resource{
	{
		Name: "file", Archive: "file_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
		Limits:  []schema.Limit{{}, {Sum: "bytes"}},
		Columns: []schema.Column{{Name: "bytes", Type: "BIGINT NOT NULL DEFAULT 0"}},
	},
	{Name: "project", Archive: "project_archive", Owner: "user_id"},
	{
		Name: "note", Archive: "note_archive", Owner: "user_id", Parent: schema.Parent{Resource: "project", Column: "project_id"},
		Limits: []schema.Limit{{Name: "notes"}},
	},
}}

type File struct {
	ID      int64  `db:"id"`
	UserID  int64  `db:"user_id"`
	Name    string `db:"name"`
	Bytes   int64  `db:"bytes"`
	Version int64  `db:"version"`
	State   string `db:"state"`
}

type Note struct {
	ID        int64 `db:"id"`
	UserID    int64 `db:"user_id"`
	ProjectID int64 `db:"project_id"`
}

type Project struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

// shop is what an application has.
type shop struct {
	number, bytes, notes *limit.Rule
	files                *repo.Repo[File]
	projects             *repo.Repo[Project]
	below                *repo.Repo[Note]
}

func newShop(t testing.TB) shop {
	t.Helper()
	rule := func(name, column string) *limit.Rule {
		return must(limit.New(plan, name, quota.LimitQuery("SELECT "+column+" FROM user WHERE id = ?")))
	}
	s := shop{number: rule("file", "files"), bytes: rule("file.bytes", "bytes"), notes: rule("notes", "notes")}
	s.files = must(repo.New[File](plan, "file", s.number, s.bytes))
	s.projects = must(repo.New[Project](plan, "project"))
	s.below = must(repo.New[Note](plan, "note", s.notes))
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var levels = racetest.Levels()

func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, append(dbtest.OfQueue(), "onerow_limit", "onerow_reservation")...)
	for _, stmt := range append(plan.DDL(), "CREATE TABLE user (id BIGINT PRIMARY KEY, files BIGINT NULL, bytes BIGINT NULL, notes BIGINT NULL) ENGINE=InnoDB") {
		dbtest.Exec(t, db, stmt)
	}
	return db, dsn
}

// allow sets a user's maxima; nil is none.
func (s shop) allow(t testing.TB, db *sql.DB, user int64, files, bytes any) {
	t.Helper()
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "REPLACE INTO user (id, files, bytes, notes) VALUES (?, ?, ?, ?)", user, files, bytes, files); err != nil {
			return err
		}
		return errors.Join(s.number.Changed(ctx, tx, user), s.bytes.Changed(ctx, tx, user), s.notes.Changed(ctx, tx, user))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s shop) create(ctx context.Context, db onerow.DB, user int64, name string, bytes int64) (File, error) {
	res, err := s.files.Create(ctx, db, File{UserID: user, Name: name, Bytes: bytes})
	return res.Row, err
}

// wantFull demands a refusal with these numbers.
func wantFull(t testing.TB, err error, want limit.Error) {
	t.Helper()
	var got *limit.Error
	if !errors.Is(err, limit.ErrLimit) || !errors.As(err, &got) {
		t.Fatalf("%v, not a refusal", err)
	}
	if *got != want {
		t.Errorf("%+v\nwant %+v", *got, want)
	}
}

// room says what is wrong with a user's room: it is what the maximum leaves, and nothing is over.
func (s shop) room(ctx context.Context, db onerow.DB, user int64) error {
	return s.rooms(ctx, db, user, false)
}

// rooms lets there be more than the maximum, where that was lowered.
func (s shop) rooms(ctx context.Context, db onerow.DB, user int64, lowered bool) error {
	var errs []error
	for _, one := range []struct {
		rule         *limit.Rule
		column, what string
	}{{s.number, "files", "COUNT(*)"}, {s.bytes, "bytes", "COALESCE(SUM(bytes), 0)"}} {
		var maximum sql.NullInt64
		var active, hidden, reserved int64
		query := fmt.Sprintf(`SELECT (SELECT %s FROM user WHERE id = ?), (SELECT %s FROM file WHERE user_id = ?),
 (SELECT %[2]s FROM file_archive WHERE user_id = ? AND deleted_from = 'active'), (SELECT COALESCE(SUM(amount), 0) FROM onerow_reservation WHERE name = ? AND owner = ?)`, one.column, one.what)
		if err := onerow.QueryRow(ctx, db, query, []any{user, user, user, one.rule.Name(), fmt.Sprint(user)}, &maximum, &active, &hidden, &reserved); err != nil {
			return err
		}
		state, err := one.rule.Look(ctx, db, user)
		if err != nil {
			return err
		}
		used := active + hidden + reserved
		if state.Known && state.Used != used {
			errs = append(errs, fmt.Errorf("%s: %d in use, the room says %d", one.rule.Name(), used, state.Used))
		}
		if maximum.Valid && used > maximum.Int64 && !lowered {
			errs = append(errs, fmt.Errorf("%s: %d in use of %d", one.rule.Name(), used, maximum.Int64))
		}
	}
	return errors.Join(errs...)
}

func (s shop) wantRoom(t testing.TB, db onerow.DB, user int64) {
	t.Helper()
	if err := s.room(t.Context(), db, user); err != nil {
		t.Error(err)
	}
}
