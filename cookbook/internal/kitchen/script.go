package kitchen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// A script is solution.sql: each statement ends a line, with who sends it and what it is answered in a
// comment.
//
//	INSERT INTO account (email) VALUES ('ann@example.com');  -- A: 1 row
//	INSERT INTO account (email) VALUES ('ann@example.com');  -- B: waits
//	COMMIT;                                                  -- A: ok
//	-- B: error 1062
//
// The answers are ok, a number of rows, an error's number, the values that were read (= 7, 'ann'), or
// waits; the last line is the answer to a statement that waited.

// session is one of the two.
type session struct {
	conn *sql.Conn
	late chan string // the answer of a statement that waits
}

// patience bounds the answer to a statement.
const patience = 10 * time.Second

func script(t *testing.T, file string, s Side) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // of the recipe's folder
	if err != nil {
		t.Fatal(err)
	}
	db := dbtest.OpenDSN(t, dbtest.DSN(t, dbtest.Isolation(sql.LevelRepeatableRead)))
	exec(t, db, append(Statements(t, s.Tables), s.Setup...)...)
	sessions := map[string]*session{}
	for _, name := range []string{"A", "B"} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }() //nolint:errcheck // the test ends
		sessions[name] = &session{conn: conn}
	}
	steps, waiting, query := 0, 0, ""
	for i, line := range strings.Split(string(text), "\n") {
		code, said, ok := cutComment(line)
		query = strings.TrimSpace(query + " " + code)
		if !ok {
			continue
		}
		name, want, _ := strings.Cut(said, ": ")
		who := sessions[name]
		if who == nil {
			t.Fatalf("%s:%d: no session is called %q", file, i+1, name)
		}
		steps++
		where := fmt.Sprintf("%s:%d: %s", file, i+1, line)
		if query == "" {
			who.want(t, where, want)
			waiting--
		} else {
			who.send(t.Context(), strings.TrimSuffix(query, ";"))
			if want == "waits" {
				dbtest.AwaitLock(t, db)
				waiting++
			} else {
				who.want(t, where, want)
			}
		}
		query = ""
	}
	if steps < 3 || waiting != 0 || query != "" {
		t.Errorf("%s has %d steps, %d that still wait, and at its end %q", file, steps, waiting, query)
	}
}

// cutComment tells the answer, "A: 1 row", from the statement before it. Other comments are for the reader.
func cutComment(line string) (code, said string, ok bool) {
	code, said, ok = strings.Cut(line, "-- ")
	if ok && (strings.HasPrefix(said, "A: ") || strings.HasPrefix(said, "B: ")) {
		return strings.TrimSpace(code), strings.TrimSpace(said), true
	}
	return strings.TrimSpace(code), "", false
}

func (s *session) send(ctx context.Context, query string) {
	late := make(chan string, 1)
	s.late = late
	go func() { late <- s.run(ctx, query) }()
}

func (s *session) want(t *testing.T, where, want string) {
	t.Helper()
	select {
	case got := <-s.late:
		if got != want {
			t.Errorf("%s\nthe server says: %s", where, got)
		}
	case <-time.After(patience):
		t.Fatalf("%s\nno answer within %s", where, patience)
	}
}

func (s *session) run(ctx context.Context, query string) string {
	word, _, _ := strings.Cut(query, " ")
	switch strings.ToUpper(word) {
	case "SELECT":
		return s.read(ctx, query)
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		res, err := s.conn.ExecContext(ctx, query)
		if err != nil {
			return failed(err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err.Error()
		}
		return strconv.FormatInt(n, 10) + map[bool]string{true: " row", false: " rows"}[n == 1]
	}
	if _, err := s.conn.ExecContext(ctx, query); err != nil {
		return failed(err)
	}
	return "ok"
}

func failed(err error) string {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return fmt.Sprintf("error %d", server.Number)
	}
	return err.Error()
}

// read is the rows as "= 7, ann; 8, bob".
func (s *session) read(ctx context.Context, query string) (text string) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			text = err.Error()
		}
	}()
	columns, err := rows.Columns()
	if err != nil {
		return err.Error()
	}
	var lines []string
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		var fields []string
		for _, v := range values {
			fields = append(fields, map[bool]string{true: v.String, false: "NULL"}[v.Valid])
		}
		lines = append(lines, strings.Join(fields, ", "))
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	if lines == nil {
		return "no row"
	}
	return "= " + strings.Join(lines, "; ")
}
