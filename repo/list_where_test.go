package repo_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	if err := schema.Verify(t.Context(), db, agenda()); err != nil {
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
				const active, archived = "SELECT * FROM task", "SELECT id FROM task_archive WHERE deletion_id IS NULL"
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
					if n := must(tasks.Count(t.Context(), here, 1, o, 1000)); n != len(want) {
						t.Errorf("%+v: a count of %d, want %d", o, n, len(want))
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
			if n := must(tasks.Count(t.Context(), db, 1, o, 1000)); n != len(got) {
				t.Errorf("%+v: a count of %d, want %d", o, n, len(got))
			}
		}
	}
	if n := must(tasks.Count(t.Context(), db, 1, repo.PageOptions{State: repo.AnyState}, 3)); n != 3 {
		t.Errorf("a count of at most 3: %d", n)
	}
	o := repo.PageOptions{Where: repo.Where{"mood": "bad", "due_at": nil}, Sort: repo.Sort{Column: "status"}}
	if n := len(must(tasks.List(t.Context(), db, 1, o)).Items); n != count(t, db, "SELECT COUNT(*) FROM task WHERE user_id = 1 AND mood = 'bad' AND due_at IS NULL") || n == 0 {
		t.Errorf("%d rows by an enum and NULL", n)
	}
}

// TestListRefused: what no index serves, and what no row can have.
func TestListRefused(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 1)
	ask := func(o repo.PageOptions) error {
		_, err := tasks.List(t.Context(), db, 1, o)
		if _, counted := tasks.Count(t.Context(), db, 1, o, 5); fmt.Sprint(counted) != fmt.Sprint(err) {
			t.Errorf("List says %v, Count %v", err, counted)
		}
		return err
	}
	for want, o := range map[string]repo.PageOptions{
		"[{columns: [user_id, big, rank_no, due_at, id]}]":                                                         {Where: repo.Where{"rank_no": 1, "big": 2}, Sort: repo.Sort{Column: "due_at"}},
		"[{columns: [user_id, title, status, id]}]":                                                                {Where: repo.Where{"title": "a"}, Sort: repo.Sort{Column: "status"}},
		"archived rows of \"task\"; add indexes: [{columns: [user_id, due_at, mood, status, id], archived: true}]": {State: repo.AnyState, Where: repo.Where{"mood": "bad", "due_at": nil}, Sort: repo.Sort{Column: "status"}},
		"[{columns: [user_id, version, id], archived: true}]":                                                      {State: schema.Archived, Sort: repo.Sort{Column: "version"}},
		"no column \"color\"":               {Where: repo.Where{"color": 1}},
		"no column \"status = status -- \"": {Where: repo.Where{"status = status -- ": "open"}},
		"no column \"state\"":               {Sort: repo.Sort{Column: "state"}},
		"\"weight\", for it is DOUBLE":      {Sort: repo.Sort{Column: "weight"}},
		"\"at\", for it is TIMESTAMP":       {Where: repo.Where{"at": time.Now()}},
		"\"mood\" of \"task\" is ENUM":      {Sort: repo.Sort{Column: "mood"}},
		"by its id with Get":                {Where: repo.Where{"id": 1}},
		"one owner's already":               {Where: repo.Where{"user_id": 1}},
		"the same user_id":                  {Sort: repo.Sort{Column: "user_id"}},
		"the same status":                   {Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "status", From: "a"}},
	} {
		err := ask(o)
		if !errors.Is(err, repo.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
		var detail *repo.NoIndexError
		if errors.As(err, &detail) != strings.Contains(want, "columns:") {
			t.Errorf("%v has the detail %+v", err, detail)
		}
		if detail != nil { // and it is enough
			p := agenda()
			if i := slices.IndexFunc(p.Resources[0].Indexes, func(x schema.Index) bool { return slices.Equal(x.Columns, detail.Index.Columns) }); i >= 0 {
				p.Resources[0].Indexes = slices.Delete(p.Resources[0].Indexes, i, i+1)
			}
			p.Resources[0].Indexes = append(p.Resources[0].Indexes, detail.Index)
			res := must(p.Resource("task"))
			if err := p.Check(); err != nil {
				t.Error(err)
			}
			equal := slices.DeleteFunc(slices.Clone(detail.Index.Columns), func(c string) bool { return c == "user_id" || c == "id" || c == o.Sort.Column })
			state := schema.Active
			if detail.Index.Archived {
				state = schema.Archived
			}
			if _, ok := res.ListIndex(state, equal, o.Sort.Column); !ok {
				t.Errorf("%+v does not serve the list", detail.Index)
			}
		}
	}
	for name, value := range map[string]any{
		"status": 5, "big": -1, "rank_no": 1 << 40, "due_at": 7, "day": "tomorrow", "price": "1 OR 1", "lang": "日", "hash": strings.Repeat("x", 41),
		"title": "\xff", "code": time.Now, "mood": 1,
	} {
		if err := ask(repo.PageOptions{Where: repo.Where{name: value}}); !errors.Is(err, repo.ErrInvalidFilter) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %#v: %v", name, value, err)
		}
	}
	if err := ask(repo.PageOptions{Sort: repo.Sort{Column: "due_at", To: 7}}); !errors.Is(err, repo.ErrInvalidFilter) {
		t.Error(err)
	}
	if _, err := tasks.OwnedBy(2).List(t.Context(), db, 1, repo.PageOptions{Sort: repo.Sort{Column: "due_at"}}); !errors.Is(err, repo.ErrOtherOwner) {
		t.Error(err)
	}
	projects := newRepos(t).projects
	for name, o := range map[string]repo.PageOptions{"Where": {Where: repo.Where{"note": "x"}}, "Sort": {Sort: repo.Sort{Column: "name_key"}}, "both states": {State: repo.AnyState}} {
		if _, err := projects.ListByName(t.Context(), db, 1, "", o); !errors.Is(err, repo.ErrUnsupported) {
			t.Errorf("names with %s: %v", name, err)
		}
	}
}

// TestListCursors: a cursor is good for its list alone, whatever bounds it has.
func TestListCursors(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 80)
	lists := map[string]repo.PageOptions{
		"by id": {}, "descending": {Sort: repo.Sort{Descending: true}}, "both": {State: repo.AnyState}, "open": {Where: repo.Where{"status": "open"}},
		"done": {Where: repo.Where{"status": "done"}}, "due": {Sort: repo.Sort{Column: "due_at"}}, "latest": {Sort: repo.Sort{Column: "due_at", Descending: true}},
		"archived": {State: schema.Archived, Sort: repo.Sort{Column: "due_at"}}, "open, due": {Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at"}},
		"title": {Sort: repo.Sort{Column: "title"}}, "no rank": {Where: repo.Where{"rank_no": nil}}, "rank": {Where: repo.Where{"rank_no": 0}},
	}
	for name, o := range lists {
		o.Limit = 1
		next := must(tasks.List(t.Context(), db, 1, o)).Next
		if next == "" || strings.Trim(string(next), "0123456789-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Fatalf("%s: the cursor %q", name, next)
		}
		for other, o := range lists {
			o.After = next
			if _, err := tasks.List(t.Context(), db, 1, o); (err == nil) != (name == other) || err != nil && !errors.Is(err, repo.ErrInvalidCursor) {
				t.Errorf("the cursor of %q in %q: %v", name, other, err)
			}
		}
		o.After = next
		if _, err := tasks.List(t.Context(), db, 2, o); (err == nil) != (name == "by id") {
			t.Errorf("the cursor of %q for another owner: %v", name, err)
		}
		if name == "by id" {
			continue
		}
		for i := range next {
			for _, broken := range []repo.Cursor{next[:i], next[:i] + "!" + next[i+1:], next + "A"} {
				o.After = broken
				if _, err := tasks.List(t.Context(), db, 1, o); broken != "" && !errors.Is(err, repo.ErrInvalidCursor) {
					t.Errorf("%q of %q: %v", broken, next, err)
				}
			}
		}
	}
	o := repo.PageOptions{Sort: repo.Sort{Column: "due_at", From: time.Unix(1, 0)}, Limit: 1}
	o.After = must(tasks.List(t.Context(), db, 1, o)).Next
	o.Sort.From = time.Unix(2, 0)
	if page := must(tasks.List(t.Context(), db, 1, o)); len(page.Items) != 1 {
		t.Errorf("with another bound: %+v", page)
	}
}

// TestListStable: rows that stay are in the pages once, while rows before and behind come and go, with the
// same values too, and while they themselves move between the tables.
func TestListStable(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db, ctx := open(t), t.Context()
	fillTasks(t, db, tasks, 0)
	add := func(rank int32) int64 {
		return must(tasks.Create(ctx, db, Task{UserID: 1, Status: "open", Mood: "good", Hash: []byte{}, Rank: &rank})).Row.ID
	}
	for _, descending := range []bool{false, true} {
		dbtest.Exec(t, db, "DELETE FROM task")
		dbtest.Exec(t, db, "DELETE FROM task_archive")
		var stay, go_ []int64
		for i := range 30 {
			stay = append(stay, add(int32(i%3)))
			go_ = append(go_, add(int32(i%3)))
		}
		o := repo.PageOptions{State: repo.AnyState, Sort: repo.Sort{Column: "rank_no", Descending: descending}, Limit: 4}
		seen := map[int64]int{}
		for i := 0; ; i++ {
			page := must(tasks.List(ctx, db, 1, o))
			for _, row := range page.Items {
				seen[row.ID]++
			}
			if page.Next == "" {
				break
			}
			o.After = page.Next
			add(int32(i % 3))
			if i < len(go_) {
				must(tasks.Delete(ctx, db, go_[i]))
			}
			move := stay[(7*i)%len(stay)]
			if must(tasks.Get(ctx, db, move)).State == schema.Active {
				must(tasks.Archive(ctx, db, move))
			} else {
				must(tasks.Activate(ctx, db, move))
			}
		}
		for _, id := range stay {
			if seen[id] != 1 {
				t.Errorf("descending %v: %d came %d times", descending, id, seen[id])
			}
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("descending %v: %d came %d times", descending, id, n)
			}
		}
	}
}

// TestListOneMoment: a row that moves while a page of both states is read is in it once.
func TestListOneMoment(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db, ctx := open(t), t.Context()
	fillTasks(t, db, tasks, 0)
	var want []int64
	for range 20 {
		want = append(want, must(tasks.Create(ctx, db, Task{UserID: 1, Status: "open", Mood: "good", Hash: []byte{}})).Row.ID)
	}
	moving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for n := 0; moving.Err() == nil; n++ {
			id := want[n%len(want)]
			_, err := tasks.Archive(ctx, db, id)
			if n/len(want)%2 == 1 {
				_, err = tasks.Activate(ctx, db, id)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 300 {
		for _, sort := range []string{"id", "big"} {
			if got := list(t, db, tasks, repo.PageOptions{State: repo.AnyState, Sort: repo.Sort{Column: sort}, Limit: 50}); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
		if n := must(tasks.Count(ctx, db, 1, repo.PageOptions{State: repo.AnyState}, 50)); n != len(want) {
			t.Fatalf("a count of %d", n)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
