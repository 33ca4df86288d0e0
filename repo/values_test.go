package repo_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type (
	level uint8
	title string
	blob  []byte
	doc   json.RawMessage
)

// point is stored as text by methods of its own.
type point struct{ X, Y int }

func (p point) Value() (driver.Value, error) {
	return fmt.Appendf(nil, `{"x": %d, "y": %d}`, p.X, p.Y), nil
}

func (p *point) Scan(src any) error {
	raw, isBytes := src.([]byte)
	if !isBytes {
		return fmt.Errorf("a point came as %T", src)
	}
	return json.Unmarshal(raw, p)
}

// Kinds has a field of each kind of Go type that a column can be given.
type Kinds struct {
	ID      int64               `db:"id"`
	I8      int8                `db:"i8"`
	I       int                 `db:"i"`
	U       uint                `db:"u"`
	U64     uint64              `db:"u64"`
	PU64    *uint64             `db:"pu64"`
	NU64    sql.Null[uint64]    `db:"nu64"`
	PNU64   *sql.Null[uint64]   `db:"pnu64"`
	Level   level               `db:"level"`
	F32     float32             `db:"f32"`
	F64     *float64            `db:"f64"`
	OK      bool                `db:"ok"`
	NOK     sql.NullBool        `db:"nok"`
	Title   title               `db:"title"`
	PTitle  **title             `db:"ptitle"`
	Text    sql.NullString      `db:"text"`
	Bytes   []byte              `db:"bytes"`
	Blob    blob                `db:"blob"`
	PBlob   *blob               `db:"pblob"`
	Raw     sql.RawBytes        `db:"raw"`
	JSON    json.RawMessage     `db:"js"`
	NJSON   *json.RawMessage    `db:"njs"`
	Doc     doc                 `db:"doc"`
	BJSON   []byte              `db:"bjs"`
	Point   point               `db:"point"`
	PPoint  *point              `db:"ppoint"`
	NPoint  sql.Null[point]     `db:"npoint"`
	At      time.Time           `db:"at"`
	PAt     *time.Time          `db:"pat"`
	NAt     sql.NullTime        `db:"nat"`
	GAt     sql.Null[time.Time] `db:"gat"`
	Lasts   time.Duration       `db:"lasts"`
	Changed int                 `db:"changed"`
}

func kinds() schema.Plan {
	const number, text, bytes, doc, at = "BIGINT UNSIGNED NULL", "VARCHAR(40) NULL", "VARBINARY(40) NULL", "JSON NULL", "DATETIME(6) NULL"
	res := schema.Resource{Name: "kind", Archive: "kind_archive"}
	for _, c := range [][2]string{
		{"i8", "TINYINT NOT NULL"}, {"i", "BIGINT NOT NULL"}, {"u", "BIGINT UNSIGNED NOT NULL"}, {"u64", "BIGINT UNSIGNED NOT NULL"}, {"pu64", number}, {"nu64", number},
		{"pnu64", number}, {"level", "TINYINT UNSIGNED NOT NULL"}, {"f32", "FLOAT NOT NULL"}, {"f64", "DOUBLE NULL"}, {"ok", "TINYINT NOT NULL"}, {"nok", "TINYINT NULL"},
		{"title", "VARCHAR(40) NOT NULL"}, {"ptitle", text}, {"text", text}, {"bytes", bytes}, {"blob", bytes}, {"pblob", bytes}, {"raw", bytes}, {"js", doc}, {"njs", "json"}, {"doc", doc},
		{"bjs", doc}, {"point", "JSON NOT NULL"}, {"ppoint", doc}, {"npoint", doc}, {"at", "DATETIME(6) NOT NULL"}, {"pat", at}, {"nat", at}, {"gat", at}, {"lasts", "BIGINT NOT NULL"}, {"changed", "INT NOT NULL"},
	} {
		res.Columns = append(res.Columns, schema.Column{Name: c[0], Type: c[1]})
	}
	return schema.Plan{Resources: []schema.Resource{res}}
}

// full has a value in each field, the greatest of an unsigned number.
func full() Kinds {
	big, f, t, b := uint64(math.MaxUint64), 0.1, title("tü"), blob{0, 0xff}
	pt, at := &t, time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	js := json.RawMessage(`{"a": "ü"}`)
	return Kinds{
		I8: -8, I: math.MinInt64, U: math.MaxUint, U64: big, PU64: &big, NU64: sql.Null[uint64]{V: big, Valid: true}, PNU64: &sql.Null[uint64]{V: big, Valid: true},
		Level: 255, F32: 0.1, F64: &f, OK: true, NOK: sql.NullBool{Valid: true}, Title: t, PTitle: &pt, Text: sql.NullString{Valid: true},
		Bytes: []byte{0, 0xff}, Blob: b, PBlob: &b, Raw: sql.RawBytes{1, 0xfe}, JSON: js, NJSON: &js, Doc: doc(js), BJSON: []byte(js),
		Point: point{1, 2}, PPoint: &point{3, 4}, NPoint: sql.Null[point]{V: point{5, 6}, Valid: true},
		At: at, PAt: &at, NAt: sql.NullTime{Time: at, Valid: true}, GAt: sql.Null[time.Time]{V: at, Valid: true}, Lasts: time.Hour,
	}
}

// TestKinds: what is created is read back as it was, by every verb and under
// opposite settings of the driver; a NULL is Go's nil.
func TestKinds(t *testing.T) {
	for _, settings := range [][]dbtest.Option{
		{dbtest.Param("interpolateParams", "true"), dbtest.Param("parseTime", "true"), dbtest.Param("loc", "Asia%2FTokyo")},
		{dbtest.Param("interpolateParams", "false"), dbtest.Param("parseTime", "false")},
	} {
		db, ctx := open(t, settings...), t.Context()
		for _, stmt := range kinds().DDL() {
			must(db.ExecContext(ctx, stmt))
		}
		r := must(repo.New[Kinds](kinds(), "kind"))
		for what, want := range map[string]Kinds{"full": full(), "empty": {Point: point{}, At: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}} {
			made, err := r.Create(ctx, db, want, repo.RequestID(what))
			if err != nil {
				t.Fatalf("create %s: %v", what, err)
			}
			want.ID = made.Row.ID
			same := func(verb string, got Kinds, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s, %s: %v", verb, what, err)
				}
				for i := range reflect.TypeFor[Kinds]().NumField() {
					if g, w := reflect.ValueOf(got).Field(i).Interface(), reflect.ValueOf(want).Field(i).Interface(); !reflect.DeepEqual(g, w) {
						t.Errorf("%s, %s: %s is %#v, want %#v", verb, what, reflect.TypeFor[Kinds]().Field(i).Name, g, w)
					}
				}
			}
			got, err := r.Get(ctx, db, want.ID)
			same("get", got, err)
			again, err := r.Create(ctx, db, want, repo.RequestID(what))
			same("replay", again.Row, err)
			updated, err := r.Update(ctx, db, want.ID, func(row *Kinds) error { row.Changed++; return nil })
			want.Changed++
			same("update", updated.Row, err)
			if same, err := r.Update(ctx, db, want.ID, func(*Kinds) error { return nil }); err != nil || same.Changed {
				t.Errorf("an update without a change: %v, %v", same.Changed, err)
			}
			archived, err := r.Archive(ctx, db, want.ID)
			same("archive", archived.Row, err)
			active, err := r.Activate(ctx, db, want.ID)
			same("activate", active.Row, err)
		}
	}
}

// refusing has a Value method that fails.
type refusing struct{}

var errRefusing = errors.New("no value")

func (refusing) Value() (driver.Value, error) { return nil, errRefusing }

// turning has a Value method that never comes to a value.
type turning struct{}

func (turning) Value() (driver.Value, error) { return turning{}, nil }

// TestNoKinds: what no column can hold is an error that names the column, before a
// statement is run.
func TestNoKinds(t *testing.T) {
	type comment[T any] struct {
		ID       int64 `db:"id"`
		ScreenID int64 `db:"screen_id"`
		Body     T     `db:"body"`
	}
	db, ctx := open(t), t.Context()
	for what, err := range map[string]error{
		"map":     second(must(repo.New[comment[map[string]int]](plan(), "comment")).Create(ctx, db, comment[map[string]int]{})),
		"[]int":   second(must(repo.New[comment[[]int]](plan(), "comment")).Create(ctx, db, comment[[]int]{})),
		"turning": second(must(repo.New[comment[turning]](plan(), "comment")).Create(ctx, db, comment[turning]{})),
	} {
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), `"body"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := must(repo.New[comment[refusing]](plan(), "comment")).Create(ctx, db, comment[refusing]{}); !errors.Is(err, errRefusing) {
		t.Errorf("a Value method's error: %v", err)
	}
	if _, err := repo.New[comment[**time.Time]](plan(), "comment"); err == nil {
		t.Error("a pointer to a pointer to a time was accepted: the driver's settings decide what it would be")
	}
	if _, err := repo.New[comment[*sql.NullTime]](plan(), "comment"); err == nil {
		t.Error("a pointer to a sql.NullTime was accepted")
	}
}
