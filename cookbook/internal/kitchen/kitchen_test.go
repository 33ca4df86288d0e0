package kitchen

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onerow/onerow/crashtest"
)

func TestMain(m *testing.M) { Main(m) }

// looked is a naive twin: it looks, then writes.
func looked(ctx context.Context, db *sql.DB) error {
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM thing").Scan(&n); err != nil || n > 0 {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO thing (name) VALUES ('a')")
	return err
}

// mended is what somebody may make of it.
func mended(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "INSERT IGNORE INTO thing (id, name) VALUES (1, 'a')")
	return err
}

// A twin that is mended is told from one that breaks, by a race and by a crash.
func TestOutcome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "thing.sql")
	if err := os.WriteFile(file, []byte("CREATE TABLE thing (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL) ENGINE=InnoDB;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	always := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "INSERT INTO thing (name) VALUES ('a')")
		return err
	}
	for _, c := range []struct {
		name    string
		call    Call
		byCrash bool
		want    Outcome
	}{{"race", looked, false, Breaks}, {"mended race", mended, false, Holds}, {"crash", always, true, Breaks}, {"mended crash", mended, true, Holds}} {
		r := Recipe{Naive: Side{Tables: file, Calls: []Call{c.call}}, AsOnce: true, ByCrash: c.byCrash}
		got, trace, err := r.outcome(t.Context(), r.Naive.workflow(t))
		if got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
		if (len(trace.Steps) > 0) != (c.want == Breaks) {
			t.Errorf("%s: the trace has %d steps", c.name, len(trace.Steps))
		}
	}
}

// A block of a page that is not its file is seen, the table as well.
func TestFilled(t *testing.T) {
	r := Recipe{Table: Same(Breaks, Refused, Holds)}
	read := func(name string) ([]byte, error) {
		if name != "naive.go" {
			return nil, errors.New("no such file")
		}
		return []byte("package x\n\nimport (\n\t\"fmt\"\n)\n\nfunc F() {}\n"), nil
	}
	page := "# A\n\n<!-- naive.go -->\n```go\nfunc F() {}\n```\n\n<!-- table -->\n" + r.Table.markdown() + "\nend\n"
	now, shown, err := r.filled(page, read)
	if now != page || err != nil || !shown["naive.go"] || !shown["table"] {
		t.Errorf("%v, %v:\n%s", shown, err, now)
	}
	for _, old := range []string{"func F() {}", "| refused by the server |"} {
		changed := strings.Replace(page, old, "something else", 1)
		if now, _, _ := r.filled(changed, read); differs(changed, now) == "" || now != page { //nolint:errcheck // the same as above
			t.Errorf("%q was changed, and nobody has seen it:\n%s", old, now)
		}
	}
	if _, _, err := r.filled("<!-- gone.go -->\n```go\n```\n", read); err == nil {
		t.Error("a file that is not there was shown")
	}
}

// Another step, another answer or another order is another text.
func TestText(t *testing.T) {
	trace := crashtest.Trace{
		Steps: []crashtest.Step{
			{Number: 1, Copy: "A", SQL: "UPDATE t SET n = ?", Args: []string{"7"}, Changed: 1},
			{Number: 2, Copy: "B", SQL: "UPDATE t SET name = ?", Args: []string{"x"}, Changed: 0, WaitsFor: "A", GoesOn: 3},
			{Number: 3, Copy: "A", SQL: "COMMIT", Changed: -1},
		},
		Answers: []string{"nil", "nil"}, Reason: "wrong",
	}
	kept := text(trace)
	for _, want := range []string{"UPDATE t SET n = 7", "→ 1 row\n", "UPDATE t SET name = 'x'", "⧗ waits for A", "(2) → 0 rows", "wrong"} {
		if !strings.Contains(strings.ReplaceAll(kept, " |\n", "\n"), want) && !strings.Contains(kept, strings.TrimSpace(want)) {
			t.Errorf("%q is not in\n%s", want, kept)
		}
		if !strings.Contains(svg(trace), strings.ReplaceAll(strings.TrimSpace(want), "'", "&#39;")) && want != "wrong" {
			t.Errorf("%q is not in the picture", want)
		}
	}
	trace.Steps[1].Changed = 1
	if differs(kept, text(trace)) == "" {
		t.Error("another answer gives the same text")
	}
}

// TestPlainly: what crashtest says of a wrong end is said in a reader's words; what is new is not lost.
func TestPlainly(t *testing.T) {
	for reason, want := range map[string]string{
		"the tables are not those after one call alone; nearest: one call alone, answers nil, nil":                                                             `Wrong: one call would leave the rows with −; these two leave those with +.`,
		`the tables are not those after the copies one after the other in any order; nearest: AB, answers nil, "sold out"`:                                     `Wrong: one after the other they would leave the rows with −, and be told: nil, "sold out". They leave those with +.`,
		`the tables are right, the answers error 1213, nil are not those after the copies one after the other in any order; nearest: "the seat is taken", nil`: `The tables are right. The answers are wrong; they should be: "the seat is taken", nil.`,
		"the tables differ from those of the run without faults":                                                                                               "Wrong: without the crash there would be the rows with −; there are those with +.",
		"Judge: 2 live projects have the name": "Wrong: 2 live projects have the name.",
		"what nobody thought of":               "what nobody thought of",
	} {
		if got := plainly(reason); got != want {
			t.Errorf("%q is said as %q, want %q", reason, got, want)
		}
	}
}
