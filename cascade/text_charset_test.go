package cascade

import (
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestTextsOfOthers: a job's error and the reason of a pause with an emoji are stored on a connection whose character set has none.
func TestTextsOfOthers(t *testing.T) {
	db := openForest(t, dbtest.Param("charset", "utf8"), dbtest.Param("collation", "utf8_general_ci"))
	const text = "bucket 🪣 is full"
	if err := Pause(t.Context(), db, text); err != nil {
		t.Fatal(err)
	}
	if state, err := Paused(t.Context(), db); err != nil || state.Reason != text {
		t.Errorf("%+v, %v", state, err)
	}
	exec(t, db, `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, token, created_at)
		VALUES ('user', '1', 1, 'running', UTC_TIMESTAMP(6), 7, UTC_TIMESTAMP(6))`)
	var id int64
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM onerow_job").Scan(&id); err != nil {
		t.Fatal(err)
	}
	w, err := NewWorker(db, forest, Config{Assets: &shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store(t.Context(), Job{ID: id, Token: 7}, Ready, 1, errors.New(text), time.Second); err != nil {
		t.Fatal(err)
	}
	var got []byte
	if err := db.QueryRowContext(t.Context(), "SELECT CAST(last_error AS BINARY) FROM onerow_job").Scan(&got); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := db.ExecContext(t.Context(), parkSQL, id, []byte("user"), []byte("k"), dbtext.Arg(text)); err != nil {
		t.Error(err)
	}
}
