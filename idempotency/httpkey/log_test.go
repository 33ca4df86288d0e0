package httpkey_test

import (
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestLogsByDefault: what a client must not see is in the program's own log, where nothing else was said.
func TestLogsByDefault(t *testing.T) {
	db, _ := open(t)
	said := &logged{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(said, nil)))
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr)
	})
	mw, err := httpkey.New(db, newKeys(t), httpkey.Config{Tenant: httpkey.SingleTenant})
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{t: t, db: db, log: said}
	mux := http.NewServeMux()
	mux.Handle("/charges", mw.TwoStep(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	g.serve(mux)
	dbtest.Exec(t, db, "DROP TABLE onerow_key")
	if got := g.send(call{path: "/charges", key: "k"}); got.status != http.StatusServiceUnavailable || !strings.Contains(said.String(), "onerow_key' doesn't exist") {
		t.Errorf("%d, and the log has %q", got.status, said)
	}
}
