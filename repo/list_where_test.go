package repo_test

import (
	"cmp"
	"database/sql"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Task has a column of each kind that a list can be by.
type Task struct {
	ID        int64        `db:"id"`
	UserID    int64        `db:"user_id"`
	Status    string       `db:"status"`
	Rank      *int32       `db:"rank_no"`
	Big       uint64       `db:"big"`
	Price     *string      `db:"price"`
	DueAt     *time.Time   `db:"due_at"`
	Day       *time.Time   `db:"day"`
	Title     string       `db:"title"`
	Code      string       `db:"code"`
	Lang      *string      `db:"lang"`
	Hash      []byte       `db:"hash"`
	Mood      string       `db:"mood"`
	CreatedAt time.Time    `db:"created_at"`
	State     schema.State `db:"state"`
}

var sorts = []string{"id", "rank_no", "big", "price", "due_at", "day", "title", "code", "lang", "hash", "created_at"}

func agenda() schema.Plan { return agendaBy(sorts...) }

func agendaBy(sorts ...string) schema.Plan {
	task := schema.Resource{
		Name: "task", Archive: "task_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "status", Type: "VARCHAR(20) NOT NULL"}, {Name: "rank_no", Type: "INT NULL"}, {Name: "big", Type: "BIGINT UNSIGNED NOT NULL"},
			{Name: "price", Type: "DECIMAL(30,10) NULL"}, {Name: "due_at", Type: "DATETIME(6) NULL"}, {Name: "day", Type: "DATE"},
			{Name: "title", Type: "VARCHAR(60) COLLATE utf8mb4_unicode_ci NOT NULL"}, {Name: "code", Type: "CHAR(9) NOT NULL"}, {Name: "lang", Type: "VARCHAR(8) CHARACTER SET latin1"},
			{Name: "hash", Type: "VARBINARY(40) NOT NULL"}, {Name: "mood", Type: "ENUM('good','bad') NOT NULL"},
			{Name: "weight", Type: "DOUBLE NOT NULL DEFAULT 0"}, {Name: "at", Type: "TIMESTAMP NULL"}},
	}
	for _, sort := range sorts {
		all, some := []string{"user_id", sort, "id"}, []string{"user_id", "status", sort}
		if sort == "id" {
			all = all[1:]
		}
		if sort != "id" {
			task.Indexes = append(task.Indexes, schema.Index{Columns: all, Archived: true})
		}
		task.Indexes = append(task.Indexes, schema.Index{Columns: some, Archived: true})
	}
	task.Indexes = append(task.Indexes, schema.Index{Columns: []string{"user_id", "mood", "due_at", "status", "id"}}, schema.Index{Columns: []string{"status", "mood", "user_id"}})
	return schema.Plan{Resources: []schema.Resource{task}}
}

// fillTasks makes many rows with few values each, NULLs, and what compares equal without being the same.
func fillTasks(t *testing.T, db *sql.DB, tasks *repo.Repo[Task], rows int) {
	t.Helper()
	for _, stmt := range agenda().DDL() {
		dbtest.Exec(t, db, stmt)
	}
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	for range rows {
		row := Task{UserID: 1, Status: pick("open", "OPEN", "done"), Big: []uint64{0, 7, 1<<63 + 1, 1<<64 - 1}[r.IntN(4)], Mood: pick("good", "bad"),
			Title: pick("a", "A", "á", "b'\\", "ß🙂", "", "ab "), Code: pick("x", "X ", "y"), Hash: []byte(pick("\x00\xff", "", "'\x00", "a"))}
		if n := r.Int32N(4); n > 0 {
			row.Rank = new(n - 2)
		}
		if price := pick("", "-0.5", "12345678901234567890.0000000001", "12345678901234567890.0000000002", "3"); price != "" {
			row.Price = &price
		}
		if n := r.IntN(4); n > 0 {
			row.DueAt = new(time.Date(2030, 3, 31, 2, 30, 0, n*1000, time.UTC))
			row.Day = new(time.Date(2030, 3, n, 0, 0, 0, 0, time.UTC))
		}
		if lang := pick("", "é", "E", "de"); lang != "" {
			row.Lang = &lang
		}
		row.UserID = cmp.Or(int64(r.IntN(8)/7)*2, 1)
		id := must(tasks.Create(t.Context(), db, row)).Row.ID
		switch r.IntN(5) {
		case 0, 1:
			must(tasks.Archive(t.Context(), db, id))
		case 2:
			must(tasks.Delete(t.Context(), db, id, repo.Grace(time.Hour)))
		}
	}
	dbtest.Exec(t, db, "UPDATE task SET created_at = '2030-01-01' + INTERVAL id MOD 5 MICROSECOND")
	dbtest.Exec(t, db, "UPDATE task_archive SET created_at = '2030-01-01' + INTERVAL id MOD 5 MICROSECOND")
	dbtest.Exec(t, db, "ANALYZE TABLE task, task_archive")
}

// list walks through the pages.
func list(t *testing.T, db *sql.DB, tasks *repo.Repo[Task], o repo.PageOptions) []int64 {
	t.Helper()
	ids := []int64{}
	for {
		page, err := tasks.List(t.Context(), db, 1, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		for _, row := range page.Items {
			ids = append(ids, row.ID)
		}
		if page.Next == "" {
			return ids
		}
		if len(ids) > 1000 {
			t.Fatalf("%+v: pages without an end", o)
		}
		if len(page.Items) != o.Limit {
			t.Fatalf("a page of %d of %d that is not the last", len(page.Items), o.Limit)
		}
		o.After = page.Next
	}
}

// numbersOf are the numbers that a query returns.
func numbersOf(t *testing.T, db *sql.DB, query string) (list []int64) {
	t.Helper()
	if err := onerow.Query(t.Context(), db, query, nil, func(rows *sql.Rows) error {
		list = append(list, 0)
		return rows.Scan(&list[len(list)-1])
	}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return list
}

// TestListSorted: the pages of each list, whatever their size and the connection's settings, are what the
// server says when it sorts all rows without an index.
func TestListSorted(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	fillTasks(t, db, tasks, 90)
	dbtest.Toolkit(t, db, "onerow_") // Verify asks for all
	if err := live.Verify(t.Context(), db, agenda()); err != nil {
		t.Fatal(err)
	}
	for name, params := range map[string]map[string]string{
		"as it is": {}, "prepared": {"interpolateParams": "false"},
		"elsewhere": {"time_zone": "'-11:30'", "sql_mode": "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'", "parseTime": "false", "interpolateParams": "false"},
		"latin1":    {"charset": "latin1", "collation": "latin1_swedish_ci"},
	} {
		if name == "elsewhere" && strings.HasPrefix(dbtest.Scan[string](t, db, "SELECT VERSION()"), "9") {
			params["sql_mode"] = "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"
		}
		t.Run(name, func(t *testing.T) {
			cfg := must(mysql.ParseDSN(dsn))
			for key, value := range params {
				switch key {
				case "interpolateParams":
					cfg.InterpolateParams = false
				case "parseTime":
					cfg.ParseTime = false
				case "collation":
					cfg.Collation = value
				case "charset":
					must("", cfg.Apply(mysql.Charset(value, params["collation"])))
				default:
					cfg.Params[key] = value
				}
			}
			pages := []repo.PageOptions{{Limit: 3}, {Limit: 7, Where: repo.Where{"status": "open"}}}
			if len(params) == 0 {
				pages = append(pages, repo.PageOptions{Limit: 1}, repo.PageOptions{Limit: 500}, repo.PageOptions{Limit: 2, Where: repo.Where{"status": "open"}})
			}
			testSorted(t, db, dbtest.OpenDSN(t, cfg.FormatDSN()), tasks, pages)
		})
	}
}

func testSorted(t *testing.T, db, here *sql.DB, tasks *repo.Repo[Task], pages []repo.PageOptions) {
	t.Helper()
	for _, sort := range sorts {
		for _, o := range pages {
			for n, direction := range []string{"", " DESC"} {
				o.Sort = repo.Sort{Column: sort, Descending: n > 0}
				where := " user_id = 1"
				if o.Where != nil {
					where += " AND status = 'open'"
				}
				from := map[schema.State]string{"": "task WHERE" + where, schema.Archived: "task_archive WHERE deletion_id IS NULL AND" + where,
					repo.AnyState: "(SELECT id, " + sort + " AS s FROM task WHERE" + where + " UNION ALL SELECT id, " + sort + " FROM task_archive WHERE deletion_id IS NULL AND" + where + ") AS both_states"}
				for state, from := range from {
					o.State = state
					by := sort
					if state == repo.AnyState {
						by = "s"
					}
					want := numbersOf(t, db, "SELECT id FROM "+from+" ORDER BY "+by+direction+", id"+direction)
					if got := list(t, here, tasks, o); !slices.Equal(got, want) || len(want) == 0 {
						t.Errorf("%+v:\n got %d\nwant %d", o, got, want)
					}
				}
			}
		}
	}
}

// TestListRanges: bounds of each kind, in both directions and from page to page; filters of each Go type.
func TestListRanges(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 120)
	due, lang, rank := time.Date(2030, 3, 31, 4, 30, 0, 2000, time.FixedZone("", 7200)), "DE", int16(0)
	for _, c := range []struct {
		where      repo.Where
		sort       string
		from, to   any
		conditions string
	}{
		{nil, "rank_no", -1, rank, "rank_no >= -1 AND rank_no < 0"},
		{nil, "rank_no", nil, &rank, "rank_no < 0"},
		{nil, "big", uint64(1<<63 + 1), nil, "big > 9223372036854775807"},
		{nil, "price", "12345678901234567890.0000000002", nil, "price >= 12345678901234567890.0000000002"},
		{nil, "price", -0.5, 3, "price >= -0.5 AND price < 3"},
		{nil, "due_at", due, nil, "due_at >= '2030-03-31 02:30:00.000002'"},
		{nil, "due_at", nil, &due, "due_at < '2030-03-31 02:30:00.000002'"},
		{nil, "day", due.AddDate(0, 0, -29), nil, "day >= '2030-03-02'"},
		{nil, "title", "A", "b", "title >= 'a' AND title < 'b'"},
		{nil, "lang", lang, nil, "lang >= 'de'"},
		{nil, "hash", []byte{0, 255}, nil, "hash >= X'00FF'"},
		{nil, "id", 20, int64(60), "id >= 20 AND id < 60"},
		{repo.Where{"status": "Done"}, "due_at", due, nil, "status = 'done' AND due_at >= '2030-03-31 02:30:00.000002'"},
		{repo.Where{"rank_no": nil}, "", nil, nil, "rank_no IS NULL"},
		{repo.Where{"rank_no": sql.Null[int]{V: 1, Valid: true}}, "", nil, nil, "rank_no = 1"},
		{repo.Where{"rank_no": (*int)(nil)}, "", nil, nil, "rank_no IS NULL"},
		{repo.Where{"price": "12345678901234567890.0000000001"}, "", nil, nil, "price = 12345678901234567890.0000000001"},
		{repo.Where{"hash": "'\x00"}, "", nil, nil, "hash = X'2700'"},
		{repo.Where{"due_at": due}, "due_at", nil, nil, "due_at = '2030-03-31 02:30:00.000002'"},
		{repo.Where{"status": "open", "due_at": nil}, "", nil, nil, "status = 'open' AND due_at IS NULL"},
		{repo.Where{"status": "x' OR 1=1 -- "}, "", nil, nil, "FALSE"},
	} {
		for _, descending := range []bool{false, true} {
			o := repo.PageOptions{Where: c.where, State: repo.AnyState, Limit: 2, Sort: repo.Sort{Column: c.sort, Descending: descending, From: c.from, To: c.to}}
			got := list(t, db, tasks, o)
			slices.Sort(got)
			want := numbersOf(t, db, "SELECT id FROM task WHERE user_id = 1 AND "+c.conditions+
				" UNION ALL SELECT id FROM task_archive WHERE user_id = 1 AND deletion_id IS NULL AND "+c.conditions+" ORDER BY id")
			if !slices.Equal(got, want) || want == nil && c.conditions != "FALSE" {
				t.Errorf("%+v:\n got %d\nwant %d", o, got, want)
			}
		}
	}
	o := repo.PageOptions{Where: repo.Where{"mood": "bad", "due_at": nil}, Sort: repo.Sort{Column: "status"}}
	if n := len(must(tasks.List(t.Context(), db, 1, o)).Items); n != count(t, db, "SELECT COUNT(*) FROM task WHERE user_id = 1 AND mood = 'bad' AND due_at IS NULL") || n == 0 {
		t.Errorf("%d rows by an enum and NULL", n)
	}
}

// TestCursorStays: the text of a cursor is the same for each version of Go, whatever characters its tables know:
// a page that one build returned is continued by another.
func TestCursorStays(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 0)
	for range 2 {
		must(tasks.Create(t.Context(), db, Task{UserID: 1, Status: "\U0001FAE9é", Mood: "good", Hash: []byte{}}))
	}
	const want = "Z45FVYcmSLR7ImkiOiIxIn0"
	page := must(tasks.List(t.Context(), db, 1, repo.PageOptions{Limit: 1, Where: repo.Where{"status": "\U0001FAE9é"}}))
	if len(page.Items) != 1 || page.Next != want {
		t.Errorf("the cursor of %d rows: %q, want %q", len(page.Items), page.Next, want)
	}
}
