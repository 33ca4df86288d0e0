package repo_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Value is a row with one column of the application's own, and a field that has none.
type Value[T any] struct {
	ID     int64        `db:"id"`
	UserID int64        `db:"user_id"`
	V      T            `db:"v"`
	State  schema.State `db:"state"`
	Other  []string
}

// storing is a value for a column. Where the server stores it as it is sent, or as is known, nothing is read.
type storing struct {
	name, column string
	read         bool
	try          func(t *testing.T, s stores)
}

// stores are the pools that a value is tried on.
type stores struct {
	plan     schema.Plan
	resource string
	read     bool
	pools    map[string]*sql.DB
	counted  *sql.DB
	counts   *crashtest.Connector
}

// value makes a row with the value in each way, and holds the answer against the row itself, and a replay.
func value[T any](v func() T) func(t *testing.T, s stores) {
	return func(t *testing.T, s stores) {
		r, ctx := must(repo.New[Value[T]](s.plan, s.resource)), t.Context()
		row := func() Value[T] { return Value[T]{UserID: 1, V: v(), Other: []string{"mine"}} }
		same := func(what string, db onerow.DB, fresh Value[T]) {
			t.Helper()
			if got := must(r.Get(ctx, db, fresh.ID)); !reflect.DeepEqual(got, fresh) {
				t.Errorf("%s: a create of %#v answers %#v, the row is %#v", what, v(), fresh.V, got.V)
			}
		}
		for name, db := range s.pools {
			same(name, db, must(r.Create(ctx, db, row())).Row)
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				same(name+", in a transaction", tx, must(r.Create(ctx, tx, row())).Row)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			fresh := must(r.Create(ctx, db, row(), repo.RequestID(name)))
			again := must(r.Create(ctx, db, row(), repo.RequestID(name)))
			if fresh.Replayed || !again.Replayed || !reflect.DeepEqual(fresh.Row, again.Row) {
				t.Errorf("%s: %#v, and its replay is %#v", name, fresh, again)
			}
		}
		given := row()
		log, err := crashtest.Count(s.counts, func() error { return second(r.Create(ctx, s.counted, given)) })
		want := 3
		if s.read {
			want++
		}
		if err != nil || len(log) != want {
			t.Errorf("%d statements, want %d: %v\n%v", len(log), want, err, log)
		}
	}
}

// TestCreateAnswersAsStored: what a create answers is the row as it is read, and so what its replay answers,
// whatever the column makes of a value; and it is not read where the plan tells what that is.
func TestCreateAnswersAsStored(t *testing.T) {
	type word string
	text, number, null := "a", int64(7), sql.NullString{String: "left over"}
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600))
	whole := at.Truncate(time.Second)
	id := uuid.UUID{1, 2, 3}
	one := func(name, column string, read bool, try func(*testing.T, stores)) storing {
		return storing{name, column, read, try}
	}
	list := []storing{
		one("integer", "INT NOT NULL", false, value(func() int { return -5 })),
		one("unsigned", "BIGINT UNSIGNED NULL", false, value(func() uint64 { return 1<<64 - 1 })),
		one("pointer", "BIGINT NULL", false, value(func() *int64 { return new(number) })),
		one("pointer to no bytes", "VARBINARY(20) NULL", true, value(func() *[]byte { return new([]byte(nil)) })),
		one("valid, no bytes", "VARBINARY(20) NULL", true, value(func() sql.Null[[]byte] { return sql.Null[[]byte]{Valid: true} })),
		one("cut integer", "TINYINT NOT NULL", false, value(func() int8 { return -128 })),
		one("nil", "BIGINT NULL", false, value(func() *int64 { return nil })),
		one("null", "VARCHAR(20) NULL", false, value(func() sql.NullString { return null })),
		one("sql.Null", "BIGINT NULL", false, value(func() sql.Null[int64] { return sql.Null[int64]{V: 5} })),
		one("valid", "BIGINT NULL", false, value(func() sql.Null[int64] { return sql.Null[int64]{V: 5, Valid: true} })),
		one("bool", "BOOLEAN NOT NULL", false, value(func() bool { return true })),
		one("text", "VARCHAR(80) NOT NULL DEFAULT ''", false, value(func() string { return "tü" })),
		one("named text", "VARCHAR(80) CHARACTER SET utf8mb4 NOT NULL", false, value(func() word { return "a" })),
		one("long text", "TEXT NOT NULL", false, value(func() *string { return new(text) })),
		one("ASCII", "VARCHAR(80) CHARACTER SET latin1 NOT NULL", false, value(func() string { return "a" })),
		one("latin1", "VARCHAR(80) CHARACTER SET latin1 NOT NULL", true, value(func() string { return "é" })),
		one("spaces", "VARCHAR(3) NOT NULL", true, value(func() string { return "ab    " })),
		one("bytes", "VARBINARY(20) NULL", false, value(func() []byte { return []byte{0, 255, 0} })),
		one("no bytes", "VARBINARY(20) NULL", false, value(func() []byte { return nil })),
		one("empty bytes", "BLOB NULL", false, value(func() []byte { return []byte{} })),
		one("text as bytes", "VARBINARY(20) NULL", false, value(func() string { return "a\x00\xff" })),
		one("fixed bytes", "BINARY(4) NOT NULL", true, value(func() []byte { return []byte{1, 2} })),
		one("filled bytes", "BINARY(2) NOT NULL", false, value(func() []byte { return []byte{1, 2} })),
		one("UUID", "BINARY(16) NOT NULL", false, value(func() uuid.UUID { return id })),
		one("padded", "CHAR(5) NOT NULL", true, value(func() string { return "a  " })),
		one("country", "CHAR(2) NOT NULL", false, value(func() string { return "at" })),
		one("decimal", "DECIMAL(10,2) NOT NULL", true, value(func() string { return "1" })),
		one("decimal, NULL", "DECIMAL(10,2) NULL", false, value(func() *string { return nil })),
		one("whole decimal", "DECIMAL(10,2) NOT NULL", true, value(func() float64 { return 0.333 })),
		one("float", "FLOAT NOT NULL", true, value(func() float64 { return 0.123456789 })),
		one("double", "DOUBLE NOT NULL", false, value(func() float64 { return 0.1 + 0.2 })),
		one("short double", "DOUBLE NULL", false, value(func() float32 { return 0.1 })),
		one("cut double", "DOUBLE(10,2) NOT NULL", true, value(func() float64 { return 0.126 })),
		one("integer in text", "VARCHAR(20) NOT NULL", true, value(func() int { return 5 })),
		one("text in integer", "INT NOT NULL", true, value(func() string { return "007" })),
		one("zeros", "INT(5) UNSIGNED ZEROFILL NOT NULL", false, value(func() int { return 7 })),
		one("year", "YEAR NOT NULL", true, value(func() int { return 7 })),
		one("enum", "ENUM('Red', 'Green') NOT NULL", true, value(func() string { return "green" })),
		one("set", "SET('a', 'b') NOT NULL", true, value(func() string { return "b,a,b" })),
		one("document", "JSON NULL", true, value(func() json.RawMessage { return json.RawMessage(`{"b": 1,   "a": 1e2, "b": 2}`) })),
		one("time", "DATETIME(6) NULL", false, value(func() time.Time { return at })),
		one("no time", "DATETIME(6) NOT NULL", false, value(func() time.Time { return time.Time{} })),
		one("time's pointer", "DATETIME(6) NULL", false, value(func() *time.Time { return new(at) })),
		one("time, NULL", "DATETIME(6) NULL", false, value(func() sql.NullTime { return sql.NullTime{Time: at} })),
		one("valid time", "DATETIME(6) NULL", false, value(func() sql.Null[time.Time] { return sql.Null[time.Time]{V: at, Valid: true} })),
		one("rounded time", "DATETIME NOT NULL", true, value(func() time.Time { return at })),
		one("whole second", "DATETIME NOT NULL", true, value(func() time.Time { return whole })),
		one("moment", "TIMESTAMP(6) NULL", true, value(func() time.Time { return at })),
		one("day", "DATE NOT NULL", true, value(func() string { return "2030-1-2" })),
		one("own methods", "VARCHAR(80) NOT NULL", true, value(func() point { return point{1, 2} })),
		one("pointer to a pointer", "VARCHAR(80) NULL", true, value(func() **string { return new(new(text)) })),
	}
	dsn := dbtest.DSN(t)
	plain := dbtest.OpenDSN(t, dsn)
	if err := migrations.Up(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	var plan schema.Plan
	for i, c := range list {
		plan.Resources = append(plan.Resources, schema.Resource{Name: fmt.Sprint("kind", i), Owner: "user_id", Columns: []schema.Column{{Name: "v", Type: c.column}}})
	}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, plain, stmt)
	}
	together := must(pool.Open(dsn))
	defer func() { must(0, together.Close()) }()
	counted, counts := racetest.Counted(t, dsn)
	for i, c := range list {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			c.try(t, stores{plan, fmt.Sprint("kind", i), c.read, map[string]*sql.DB{"plain": plain, "together": together}, counted, counts})
		})
	}
}

// TestCreateAnswersItsKeys: so it is with the columns of the toolkit that are keys, a name, and a text that a
// server which is not strict cuts; and what the caller goes on to write is not in the answer.
func TestCreateAnswersItsKeys(t *testing.T) {
	type keyed struct {
		ID    string `db:"id"`
		Owner string `db:"owner"`
		Name  string `db:"name"`
		Code  *int8  `db:"code"`
		Note  string `db:"note"`
		Raw   []byte `db:"raw"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "item", Archive: "item_archive", IDType: "CHAR(8) NOT NULL", Owner: "owner", OwnerType: "CHAR(8) NOT NULL", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{{Name: "code", Type: "TINYINT UNSIGNED NULL"}, {Name: "note", Type: "VARCHAR(3) NOT NULL"}, {Name: "raw", Type: "VARBINARY(20) NULL"}},
	}}}
	db := dbtest.Open(t, dbtest.Param("sql_mode", "''"))
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	r, ctx := must(repo.NewOf[keyed, string, string](plan, "item")), t.Context()
	for i, row := range []keyed{
		{Owner: "a  ", Name: "  A   b ", Raw: []byte("x")}, {Owner: "b", Name: "B", Note: "abcdef"}, {Owner: "b", Name: "C", Code: new(int8(-1))},
	} {
		row.ID = fmt.Sprint("id", i, "  ")
		fresh := must(r.Create(ctx, db, row))
		if row.Raw != nil {
			row.Raw[0] = 'y'
		}
		again := must(r.Create(ctx, db, row))
		if fresh.Replayed || !again.Replayed || !reflect.DeepEqual(fresh.Row, again.Row) {
			t.Errorf("%+v, and its replay is %+v", fresh, again)
		}
	}
}
