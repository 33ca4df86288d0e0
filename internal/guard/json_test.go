package guard_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/packet"
)

// TestBytesOfJSON: a []byte goes into a JSON column as json.RawMessage does, from a pool of Open, on every
// way that a statement takes; columns of bytes and of text get what they were given, JSON or not.
func TestBytesOfJSON(t *testing.T) {
	insert := "INSERT INTO doc (doc, raw, fixed, few, words) VALUES (?, ?, ?, ?, ?)"
	args := func(doc any, raw []byte) []any {
		return []any{doc, raw, append(bytes.Clone(raw[:min(len(raw), 16)]), make([]byte, max(0, 16-len(raw)))...), raw, raw}
	}
	inTx := func(db *sql.DB, fn func(ctx context.Context, tx *onerow.Tx) error) error {
		return onerow.InTx(t.Context(), db, fn)
	}
	ways := map[string]func(db *sql.DB, args []any) error{
		"a pool": func(db *sql.DB, args []any) error {
			_, err := db.ExecContext(t.Context(), insert, args...)
			return err
		},
		"prepared": func(db *sql.DB, args []any) error {
			stmt, err := db.PrepareContext(t.Context(), insert)
			if err != nil {
				return err
			}
			defer func() { _ = stmt.Close() }()
			_, err = stmt.ExecContext(t.Context(), args...)
			return err
		},
		"first": func(db *sql.DB, args []any) error {
			return inTx(db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := tx.ExecContext(ctx, insert, args...)
				return err
			})
		},
		"with COMMIT": func(db *sql.DB, args []any) error {
			return inTx(db, func(ctx context.Context, tx *onerow.Tx) error {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: insert, Args: args})
			})
		},
		"a query": func(db *sql.DB, args []any) error {
			return inTx(db, func(ctx context.Context, tx *onerow.Tx) error {
				rows, err := tx.QueryContext(ctx, insert, args...)
				if err != nil {
					return err
				}
				return rows.Close()
			})
		},
	}
	values := []string{`{"a": 1, "b": [null, true]}`, `[]`, `"it's \"quoted\" \\ here"`, `12`, `null`, `{"é": "ü😀", "e": "é"}`, "{\"tab\":\t\"\\n\"}\r\n"}
	for _, params := range [][]string{nil, {"interpolateParams=false"}, {"multiStatements=false"}, {"sql_mode=%27NO_BACKSLASH_ESCAPES%27"}, {"charset=utf8mb4,utf8"}} {
		db := floortest.Opened(t, floortest.Bare(t, params...))
		dbtest.Exec(t, db, "CREATE TABLE doc (id BIGINT PRIMARY KEY AUTO_INCREMENT, doc JSON, raw BLOB, fixed BINARY(16), few VARBINARY(200), words TEXT CHARACTER SET utf8mb4) ENGINE=InnoDB")
		for way, run := range ways {
			for _, value := range values {
				raw := []byte(value)
				for _, doc := range []any{raw, json.RawMessage(raw)} {
					if len(params) > 0 && params[0] == "charset=utf8mb4,utf8" { // it is not known which
						doc = json.RawMessage(raw)
					}
					what := fmt.Sprintf("%v, %s, %s as %T", params, way, value, doc)
					dbtest.Exec(t, db, "DELETE FROM doc")
					if err := run(db, args(doc, raw)); err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					var got, blob, fixed, few, words []byte
					if err := db.QueryRowContext(t.Context(), "SELECT doc, raw, fixed, few, words FROM doc").Scan(&got, &blob, &fixed, &few, &words); err != nil {
						t.Fatal(err)
					}
					var want, is any
					if json.Unmarshal(raw, &want) != nil || json.Unmarshal(got, &is) != nil || fmt.Sprint(want) != fmt.Sprint(is) {
						t.Errorf("%s: the JSON is %s", what, got)
					}
					if !bytes.Equal(blob, raw) || !bytes.Equal(few, raw) || !bytes.Equal(words, raw) || !bytes.HasPrefix(fixed, raw[:min(len(raw), 16)]) {
						t.Errorf("%s: the bytes are %q, %q, %q, %q", what, blob, fixed, few, words)
					}
				}
			}
		}
	}
	db := floortest.Opened(t, floortest.Bare(t))
	for _, raw := range [][]byte{{0xff, 0, '{'}, []byte("\"\xff\""), []byte("{"), {}, nil} { // no JSON: bytes as ever
		var charset string
		if err := db.QueryRowContext(t.Context(), "SELECT COALESCE(CHARSET(?), '')", raw).Scan(&charset); err != nil || charset != "binary" {
			t.Errorf("%q travels as %s: %v", raw, charset, err)
		}
	}
}
