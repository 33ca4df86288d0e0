package adopt_test

import (
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/live"
)

var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// rank orders the lines of SHOW CREATE TABLE; a server writes indexes in the order in which they came.
func rank(line string) int {
	for i, begin := range []string{"CREATE ", "  `", "  PRIMARY", "  UNIQUE", "  KEY", "  CONSTRAINT"} {
		if strings.HasPrefix(line, begin) {
			return i
		}
	}
	return 9
}

// clean fails the test unless Verify has nothing to say of the plan's resources.
func clean(t *testing.T, db *sql.DB, p schema.Plan) {
	t.Helper()
	if err := live.Verify(t.Context(), db, p); err != nil {
		t.Error(err)
	}
}

// filled runs the backfill, which is to leave nothing.
func filled(t *testing.T, db *sql.DB, p schema.Plan) adopt.Report {
	t.Helper()
	f, err := adopt.New(t.Context(), db, p, "ticket")
	if err != nil {
		t.Fatal(err)
	}
	report, err := f.Run(t.Context(), db, adopt.Options{})
	if err != nil || !report.Whole {
		t.Fatalf("%+v, %v", report, err)
	}
	return report
}

// TestFiles: each file leads from what SHOW CREATE TABLE shows before it to something else and back; run
// twice it is as if run once, both ways, and so is one that was cut behind any of its statements. In between
// no column, default or value of the application's changes, and at the end Verify has nothing to say.
func TestFiles(t *testing.T) {
	t.Parallel()
	db, _ := old(t, 700)
	a := planned(t, db, plan())
	if len(a.Against) > 0 || len(a.Steps) < 15 {
		t.Fatalf("%d steps, against it is %v", len(a.Steps), a.Against)
	}
	var states []string
	back := false
	for i, s := range a.Steps {
		if s.Last && !back {
			back = true
			for _, s := range []adopt.Step{s, a.Steps[len(a.Steps)-1]} {
				was := shown(t, db)
				if err := send(t.Context(), db, adopt.Statements(s.Up)); err == nil || !strings.Contains(err.Error(), lacking) || differ(was, shown(t, db)) != "" {
					t.Fatalf("%s before the backfill: %v", s.Name, err)
				}
			}
			filled(t, db, plan())
		}
		before := shown(t, db)
		states = append(states, before)
		both(t, db, s, before)
		if t.Failed() {
			t.Fatalf("step %d", i)
		}
	}
	clean(t, db, plan())
	if again := planned(t, db, plan()); len(again.Steps)+len(again.Against) > 0 {
		t.Errorf("what is left to do: %+v", again)
	}
	for i, s := range slices.Backward(a.Steps) {
		if err := send(t.Context(), db, adopt.Statements(s.Down)); err != nil {
			t.Fatal(err)
		}
		if d := differ(states[i], shown(t, db)); d != "" {
			t.Fatalf("back before %s: %s", s.Name, d)
		}
	}
}

// both goes up, down and up again, each cut behind each statement first.
func both(t *testing.T, db *sql.DB, s adopt.Step, before string) {
	t.Helper()
	run := func(c adopt.Change) string {
		all := adopt.Statements(c)
		for cut := range all {
			if err := send(t.Context(), db, all[:cut]); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			db.SetMaxIdleConns(0) // the session ends
			db.SetMaxIdleConns(2)
		}
		for range 2 {
			if err := send(t.Context(), db, all); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
		return shown(t, db)
	}
	after := run(s.Up)
	if after == before {
		t.Errorf("%s changes nothing", s.Name)
	}
	if d := differ(before, run(s.Down)); d != "" {
		t.Errorf("%s does not lead back: %s", s.Name, d)
	}
	// The server drops the index that it made for a foreign key once another one will do, and not one that
	// was asked for.
	asked := func(text string) string { return strings.ReplaceAll(text, "  KEY `ticket_desk` (`desk_id`)\n", "") }
	if d := differ(asked(after), asked(run(s.Up))); d != "" {
		t.Errorf("%s leads elsewhere the second time: %s", s.Name, d)
	}
}

const lacking = "rows lack values: run cascade-worker adopt --backfill first"

// TestGoose: goose reads the files and runs them up and down, with a backfill between; without it it stops
// before any that another writer would notice, and says why.
func TestGoose(t *testing.T) {
	t.Parallel()
	db, _ := old(t, 50)
	before := shown(t, db)
	a := planned(t, db, plan())
	list := adopt.Files(a, 41)
	var names []string
	for name, text := range list {
		names = append(names, name)
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "-- ") && len(line) > 111 {
				t.Errorf("%s: a long line: %s", name, line)
			}
		}
	}
	p, err := migrations.New(db, files(list), "goose_db_version")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Up(t.Context())
	var partial *goose.PartialError
	if !errors.As(err, &partial) || !strings.Contains(err.Error(), lacking) ||
		partial.Failed.Source.Path != names[slices.IndexFunc(a.Steps, func(s adopt.Step) bool { return s.Last })] {
		t.Fatalf("the files without a backfill: %v", err)
	}
	report := filled(t, db, plan())
	if report.Written != 50 {
		t.Errorf("%+v", report)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	clean(t, db, plan())
	if mode := dbtest.Scan[string](t, db, "SELECT @@SESSION.time_zone"); mode == "" {
		t.Error("no time zone")
	}
	if _, err := p.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if d := differ(before, shown(t, db)); d != "" {
		t.Errorf("all the way down: %s", d)
	}
}
